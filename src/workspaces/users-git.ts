/** What a git command answered. */
export interface Said {
  readonly code: number;
  readonly out: string;
  /** Both outputs, for people: first what it did, then why it stopped. */
  readonly said: string;
}

/** Runs the user's own git in the user's checkout: with all settings, hooks, identity and signature. */
export type UsersGit = (args: readonly string[]) => Said | Promise<Said>;

/** What a git command answered. */
export interface Said {
  readonly code: number;
  readonly out: string;
  /** Both outputs, for people: first what it did, then why it stopped. */
  readonly said: string;
  /** The signal that ended it, such as SIGINT after Ctrl-C. */
  readonly endedBy?: string;
}

/** Runs the user's own git in the user's checkout: with all settings, hooks, identity and signature. */
export type UsersGit = (args: readonly string[]) => Said | Promise<Said>;

/** Variables that choose git's repository before its folder does. Git sets them for hooks and for some aliases. */
const PLACE =
  /^GIT_(?:DIR|WORK_TREE|IMPLICIT_WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|SHALLOW_FILE|GRAFT_FILE|PREFIX|NAMESPACE)$/;

/** An environment in which git finds the repository of its folder. */
export function withoutPlace(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !PLACE.test(name)));
}

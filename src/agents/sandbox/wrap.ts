/** A program that is about to start. */
export interface Start {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs programs apart from everything else: all their processes end with them. */
export interface SandboxWrap {
  /** The same program in a sandbox of its own. */
  wrap(start: Start): Start;
}

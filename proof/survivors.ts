/** A mutant that may survive, and why. It is found by its file and text, because lines move. */
export interface Accepted {
  readonly file: string;
  readonly was: string;
  readonly now: string;
  /** Why no test can notice it, or why none has to. */
  readonly reason: string;
}

export const ACCEPTED: readonly Accepted[] = [];

/** Why a mutant may survive; nothing if that is open. */
export function reasonOf({ file, was, now }: Omit<Accepted, 'reason'>): string | undefined {
  return ACCEPTED.find((one) => one.file === file && one.was === was && one.now === now)?.reason;
}

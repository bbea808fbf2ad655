import type { LockOptions } from '../lock.ts';

/** How long a mirror waits for what, in milliseconds. Each is read when it counts, so that a test may change it meanwhile. */
export interface MirrorTimes {
  /** The native team, or the file of a task, may be away so long, while its lead is resumed or somebody moves it. */
  readonly grace: number;
  /** A native team that is not there for so long has ended for those who sit in it. */
  readonly gone: number;
  /** What went wrong (a lock that is held, a disk that is full) is tried again after so long, and then less often. */
  readonly retry: number;
  /** Waiting for native files. */
  readonly files: LockOptions;
}

export const MIRROR_TIMES: MirrorTimes = { grace: 10_000, gone: 2_000, retry: 2_000, files: {} };

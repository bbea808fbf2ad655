import type { TeamState } from '../../core/state.ts';
import type { NewCommand } from '../../ledger/ledger.ts';
import type { NativeConfig } from '../format.ts';
import type { FileReading } from '../json-file.ts';
import type { NativePaths } from '../layout.ts';
import type { LockOptions } from '../lock.ts';
import type { Naming } from './names.ts';
import type { Steps } from './rhythm.ts';

/** What presence, members, tasks and mail of one mirror share. */
export interface Shared {
  readonly teamId: string;
  readonly paths: NativePaths;
  /** Tells this life of the team from another one of its name. */
  readonly stream: string;
  readonly naming: Naming;
  readonly times: MirrorTimes;
  /** Where files go that are taken out of native directories, and copies of files that cannot be read. */
  readonly trash: string;

  /** Reads our team. */
  readonly view: <R>(pick: (state: TeamState) => R) => Promise<R>;
  /** Changes our team; throws if that is refused. */
  readonly execute: (command: NewCommand | readonly NewCommand[]) => Promise<void>;
  /** The same for what may be refused: people are told of a refusal. Says whether it was done. */
  readonly attempt: (command: NewCommand | readonly NewCommand[], about: string) => Promise<boolean>;
  /** The native team's file as it is now. */
  readonly config: () => NativeConfig | undefined;
  /** The native name of the native lead. */
  readonly leadName: () => string;

  /** Does something about one matter; trouble with it is reported, and holds up nothing else. */
  readonly step: Steps['step'];
  /** Notes something for people: a refusal, an overwrite, a file that cannot be read. */
  readonly report: (what: string) => void;
  /** Writes a line of our own to a native member, once per matter. */
  readonly tell: (to: string, text: string, matter: string) => Promise<void>;
  /** Tells those who watch the files of one that we wrote ourselves. */
  readonly wrote: (path: string, written: FileReading) => void;
  /** Asks for another pass, now or after so many milliseconds. */
  readonly again: (after?: number) => void;
  /** Asks for another look at the members. */
  readonly meet: () => void;

  /** Native names that were just given a pane: whoever sits in it will say so. */
  readonly expected: Set<string>;
  /** Of those, the ones that have written meanwhile. Members of ours write through us, so these are native. */
  readonly spoken: Set<string>;
}

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

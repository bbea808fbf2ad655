import type { TeamState } from '../../core/state.ts';
import type { NewCommand } from '../../ledger/ledger.ts';
import type { NativeConfig } from '../format.ts';
import type { FileReading } from '../json-file.ts';
import type { NativePaths } from '../layout.ts';
import type { LockOptions } from '../lock.ts';
import type { Naming } from './names.ts';
import type { Steps } from './rhythm.ts';

/** What the presence, members, tasks and mail of one mirror share. */
export interface Shared {
  readonly teamId: string;
  readonly paths: NativePaths;
  /** Tells this team from an earlier or later one of its name. */
  readonly stream: string;
  readonly naming: Naming;
  readonly times: MirrorTimes;
  /** Where files removed from native directories go, and copies of unreadable files. */
  readonly trash: string;

  /** Reads our team. */
  readonly view: <R>(pick: (state: TeamState) => R) => Promise<R>;
  /** Changes our team; throws on a refusal. */
  readonly execute: (command: NewCommand | readonly NewCommand[]) => Promise<void>;
  /** Changes our team; a refusal is reported to people. Returns whether it was done. */
  readonly attempt: (command: NewCommand | readonly NewCommand[], about: string) => Promise<boolean>;
  /** The native team's current file. */
  readonly config: () => NativeConfig | undefined;
  /** The native lead's name. */
  readonly leadName: () => string;

  /** Handles one matter; a failure is reported and delays nothing else. */
  readonly step: Steps['step'];
  /** Notes something for people: a refusal, an overwrite, an unreadable file. */
  readonly report: (what: string) => void;
  /** Writes a line of our own to a native member, once per matter. */
  readonly tell: (to: string, text: string, matter: string) => Promise<void>;
  /** Tells the file watcher about a file that we wrote ourselves. */
  readonly wrote: (path: string, written: FileReading) => void;
  /** Requests another pass, now or after this many milliseconds. */
  readonly again: (after?: number) => void;
  /** Requests another comparison of the members. */
  readonly meet: () => void;

  /** Native names with a new pane, whose program has not yet shown who it is. */
  readonly expected: Set<string>;
  /** Those of them that have written. Our members write through us, so these are native. */
  readonly spoken: Set<string>;
}

/** Waiting times of a mirror, in milliseconds. Read at each use, so that a test may change them. */
export interface MirrorTimes {
  /** How long the native team or a task's file may be missing, while its lead is resumed or somebody moves it. */
  readonly grace: number;
  /** After this long without the native team, its seats end. */
  readonly gone: number;
  /** First pause before a retry (held lock, full disk); later pauses are longer. */
  readonly retry: number;
  /** Timeouts for native files. */
  readonly files: LockOptions;
}

export const MIRROR_TIMES: MirrorTimes = { grace: 10_000, gone: 2_000, retry: 2_000, files: {} };

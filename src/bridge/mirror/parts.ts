import type { TeamState } from '../../core/state.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { FileReading } from '../json-file.ts';
import type { NativePaths } from '../layout.ts';
import type { Naming } from './names.ts';
import type { Steps } from './steps.ts';
import type { MirrorTimes } from './times.ts';

/** What the parts of a mirror share. */
export interface MirrorParts {
  readonly ledger: Ledger;
  readonly teamId: string;
  readonly paths: NativePaths;
  /** Tells this life of the team from another one of its name. */
  readonly stream: string;
  /** When this team parted from the native one, before it joined it again; 0 if it never did. */
  readonly leftAt: number;
  readonly naming: Naming;
  /** Set where we lead the native team ourselves: ends a task as its holder would, gates and all. */
  readonly complete?: ((taskId: string, memberId: string) => Promise<void>) | undefined;
  /** Who leads, in our words. */
  readonly leadId: (state: TeamState) => string;
  /** Who leads, in theirs. */
  readonly leadName: () => string;
  /** Writes a line of our own to a native member; the same matter is told once. */
  readonly tell: (to: string, text: string, matter: string) => Promise<void>;
  readonly times: MirrorTimes;
  /** Does something about one matter; trouble with it is told of, and holds up nothing else. */
  readonly step: Steps['step'];
  /** Notes something for people: a refusal, an overwrite, a file that cannot be read. */
  readonly report: (what: string) => void;
  /** Where files go that are taken out of native directories. */
  readonly trash: string;
  /** The unreadable files that a copy was made of. */
  readonly kept: Set<string>;
  /** Tells those who watch of a file that we wrote ourselves. */
  readonly wrote: (path: string, written: FileReading) => void;
  /** The pane in which a native member is listed. */
  readonly paneOf: (name: string) => string | undefined;
  /** Whether the native lead is of those that sign what they write, and take protocol only as an answer. */
  readonly isSigning: () => boolean;
  /** Who was just given a pane over there: whoever sits in it will say so. */
  readonly expected: Set<string>;
  /** Of those, who has written meanwhile. Ours write through us: it is a native one that sits there. */
  readonly spoken: Set<string>;
  /** Asks for another look at the members. */
  readonly meet: () => void;
  /** Asks for another pass. */
  readonly again: () => void;
}

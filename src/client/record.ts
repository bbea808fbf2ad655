import type { InputOf, ResultOf } from '../operations/index.ts';
import type { Batch } from './replica.ts';

/** The id of the element that holds a record in its page. Its text is JSON, compressed with gzip, in base64. */
export const RECORD_ELEMENT = 'record';

/** What `troupe export` replaces by that element. No other text of the page contains it. */
export const RECORD_PLACE = '@troupe-record@';

/** What a record is: on its element, so that the page knows it before it has read the rest. */
export interface RecordHead {
  readonly teamId: string;
  /** When it was exported, in milliseconds since 1970. */
  readonly at: number;
  /** The version of Troupe that wrote it. */
  readonly version: string;
  readonly hasTranscripts: boolean;
}

/** What is compared. */
export type RecordedSides = Omit<InputOf<'work.files'>, 'teamId' | 'after'>;

/** A difference: its files, and the lines of each file that fits. */
export interface RecordedDiff {
  /** What pages ask for to see it. */
  readonly asked: readonly RecordedSides[];
  readonly files: Omit<ResultOf<'work.files'>, 'next'>;
  /** By path. A file that is not here was too large for the record. */
  readonly lines: Readonly<Record<string, Omit<ResultOf<'work.lines'>, 'next'>>>;
}

/** One team of a record, as a daemon told it, without secrets. */
export interface RecordedTeam {
  readonly line: ResultOf<'team.list'>[number];
  readonly stream: string;
  readonly batches: readonly Batch[];
  readonly diffs: readonly RecordedDiff[];
  /** The workspaces of members, by id. */
  readonly work: Readonly<Record<string, ResultOf<'work.show'>>>;
  /** The pages of the transcripts of each member, the oldest first. */
  readonly transcripts?: Readonly<Record<string, readonly ResultOf<'transcript.read'>[]>>;
  /** What gates said about each task. */
  readonly gates?: Readonly<Record<string, readonly ResultOf<'gate.runs'>[]>>;
}

/** A team's past inside of a page, with the teams inside of its members. */
export interface RunRecord {
  readonly teams: readonly RecordedTeam[];
}

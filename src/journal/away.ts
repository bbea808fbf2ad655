import { TeamError } from '../core/errors.ts';

/** The journal is unreachable now; the call may be repeated later. */
export class JournalAwayError extends TeamError {
  /** What is unreachable, and since when. */
  readonly situation: string;

  constructor(situation: string, { advice, cause }: { advice: string; cause?: unknown }) {
    super('storage', `${situation}: ${advice}`, { cause });
    this.name = 'JournalAwayError';
    this.situation = situation;
  }
}

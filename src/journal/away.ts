import { TeamError } from '../core/errors.ts';

/** Where the teams are kept cannot be reached just now; what is asked may be asked again. */
export class JournalAwayError extends TeamError {
  /** What cannot be reached, and since when. */
  readonly situation: string;

  constructor(situation: string, { advice, cause }: { advice: string; cause?: unknown }) {
    super('storage', `${situation}: ${advice}`, { cause });
    this.name = 'JournalAwayError';
    this.situation = situation;
  }
}

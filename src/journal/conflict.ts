import { TeamError } from '../core/errors.ts';
import type { Seq } from './journal.ts';

/** The error for an append that came too late. */
export function conflict(team: string, expected: Seq): TeamError {
  const name = JSON.stringify(team);
  return new TeamError(
    'journal_conflict',
    `Batch ${expected} is not the last of team ${name}: read on and decide again.`,
  );
}

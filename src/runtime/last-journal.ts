import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TeamError } from '../core/errors.ts';
import { shellQuote } from '../core/shell.ts';
import { replacePrivateFile } from './private-file.ts';

/** The file in a state directory that says where its last daemon kept its teams. */
export const lastJournalOf = (directory: string): string => join(directory, 'last-journal');

/** Where the teams of a state directory are when nobody says anything. */
const OWN = 'sqlite';

/**
 * Refuses to begin with another journal than the last time only because nobody named one: the daemon that a command starts gets no flag, and
 * would show no teams, or old ones. Said is said, whatever it is.
 */
export function requireLastJournal(file: string, said: boolean): void {
  const last = readLast(file);
  if (said || last === OWN) return;
  throw new TeamError(
    'conflict',
    `The last daemon here kept its teams in ${last}, and now nobody says where they are. Start it there again: troupe serve --journal ${shellQuote(last)} ` +
      '(with its credentials; for every start, set TROUPE_JOURNAL or journal in config.yaml). For the journal in the state directory: troupe serve --journal sqlite',
  );
}

/** Keeps where teams are now; `location` has no password in it. What is only in memory is gone, and nobody asks for it. */
export function rememberJournal(file: string, journal: { kind: string; location: string; isOwn: boolean }): void {
  if (journal.kind === 'memory') return;
  const now = journal.isOwn ? OWN : journal.kind === 'sqlite' ? `sqlite:${journal.location}` : journal.location;
  if (now !== readLast(file)) replacePrivateFile(file, `${now}\n`);
}

function readLast(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim() || OWN;
  } catch {
    return OWN;
  }
}

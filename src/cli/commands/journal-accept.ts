import { findHome } from '../../client/home.ts';
import type { Home } from '../../client/home.ts';
import { nameLost, removeMark } from '../../journal/mark.ts';
import type { Lost } from '../../journal/mark.ts';
import { markOf } from '../../journal/sqlite/lost.ts';
import { inspectFile, refuseForeign } from '../../journal/sqlite/open.ts';
import { takeOwnership } from '../../journal/sqlite/owner.ts';
import { fileOf, findLost, lasts, readJournalPlace, showPlace } from '../../journals.ts';
import type { JournalPlace } from '../../journals.ts';
import { takeLock } from '../../runtime/lock.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { findNext } from '../reach/journal-place.ts';
import { Refusal } from '../show/errors.ts';
import { clean } from '../show/text.ts';
import { print, toJson } from '../show/write.ts';

/** `troupe journal accept`: a person agrees that a journal has less than it once had. */
export async function runAccept(given: Arguments, { environment }: Surroundings): Promise<number> {
  const { address } = given.input as { address?: string };
  const home = findHome(environment);
  const place = address === undefined ? await findNext(home, environment) : readJournalPlace(address, process.cwd());
  const path = await showPlace(place, { file: home.journal });
  const lost = await acceptAt(place, home);
  if (given.json) print(toJson({ path, lost }, undefined));
  else if (lost.length === 0) print(`${clean(path)} has lost nothing.\n`);
  else print(`Accepted: ${clean(nameLost(lost))}. The next command starts the daemon with what is left.\n`);
  return 0;
}

/** Removes the mark if something is lost. Not while a daemon uses the journal: its journal is whole. */
async function acceptAt(place: JournalPlace, home: Home): Promise<Lost[]> {
  if (!lasts(place)) throw new Refusal('unsupported', 'A journal in memory has nothing to accept');
  const file = fileOf(place, { file: home.journal });
  const inUse = file === undefined ? await takeLock(home) : takeOwnership(file, { alone: true });
  try {
    const mark = file === undefined ? home.serversMark : markOf(file);
    const lost = await findLost(place, { file: home.journal, mark });
    if (lost.length > 0) removeMark(mark);
    else if (file !== undefined) requireReadable(file);
    return lost;
  } finally {
    inUse.release();
  }
}

/** Nobody knows what a damaged file has lost. */
function requireReadable(file: string): void {
  refuseForeign(file, { readOnly: true });
  const damage = inspectFile(file);
  if (damage) throw damage;
}

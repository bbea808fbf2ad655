import { findHome } from '../../client/home.ts';
import { findLost, nameLost, removeMark } from '../../journal/sqlite/mark.ts';
import { takeOwnership } from '../../journal/sqlite/owner.ts';
import { fileOf, readJournalPlace } from '../../journals.ts';
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
  const path = fileOf(place, { file: home.journal });
  if (path === undefined) {
    throw new Refusal('unsupported', 'Only a journal in a file can be accepted; servers keep their own record');
  }
  // Not while a daemon writes to it: its journal is whole.
  const ownership = takeOwnership(path, { alone: true });
  try {
    const lost = findLost(path);
    if (lost.length > 0) removeMark(path);
    if (given.json) print(toJson({ path, lost }, undefined));
    else if (lost.length === 0) print(`${clean(path)} has lost nothing.\n`);
    else print(`Accepted: ${clean(nameLost(lost))}. The next command starts the daemon with what is left.\n`);
  } finally {
    ownership.release();
  }
  return 0;
}

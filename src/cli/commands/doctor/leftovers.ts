import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, isThere } from '../../../agents/process.ts';
import type { Home } from '../../../client/home.ts';
import { readCard } from '../../../runtime/card.ts';
import type { Check } from './check.ts';

/** A file that a process had not finished when it was killed, with the process's id. */
const DRAFT = /^.+\.(?<pid>\d+)\.tmp$/;

/** The folder of an agent that starts: it has a one-time credential. */
const START = /^start-\w+$/;

/** An agent that takes longer than this to start has failed. */
const START_MS = 60 * 60_000;

/** Finds what killed processes left in the state directory: members that still run, drafts, credentials. */
export async function checkLeftovers(home: Home, environment: NodeJS.ProcessEnv): Promise<Check[]> {
  if (!existsSync(home.directory)) return [];
  return [...(await checkMembers(home, environment)), ...checkDebris(home)];
}

/** A killed daemon leaves its members running. Whether to end them is for a person to say. */
async function checkMembers(home: Home, environment: NodeJS.ProcessEnv): Promise<Check[]> {
  const card = readCard(home.card);
  if (card && isRunning(card)) return [];
  const left = (await import('../stop-all.ts')).listLeft(environment);
  if (left.length === 0) return [];
  const remedy = 'any other command starts a daemon that takes them over; troupe stop --all kills them';
  return [{ name: 'members', state: 'warn', found: `without a daemon: ${left.join(', ')}`, remedy }];
}

function checkDebris(home: Home): Check[] {
  const name = 'leftovers';
  const stale = findStale(home.directory);
  if (stale.length === 0) return [];
  const found = `${stale.join(', ')} in ${home.directory}, of processes that are gone`;
  const mend = (): string => {
    for (const one of stale) rmSync(join(home.directory, one), { recursive: true, force: true });
    return `removed ${stale.join(', ')}`;
  };
  return [{ name, state: 'warn', found, remedy: 'run: troupe doctor --fix', mend }];
}

function findStale(directory: string): string[] {
  const inBoxes = namesIn(join(directory, 'box')).map((name) => `box/${name}`);
  return [...namesIn(directory), ...inBoxes].filter((name) => {
    const pid = DRAFT.exec(name)?.groups?.['pid'] ?? /^box\/(\d+)-\d+$/.exec(name)?.[1];
    if (pid !== undefined) return !isThere(Number(pid));
    if (!START.test(name)) return false;
    const made = lstatSync(join(directory, name), { throwIfNoEntry: false });
    return made !== undefined && Date.now() - made.mtimeMs > START_MS;
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

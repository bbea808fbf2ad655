import { existsSync } from 'node:fs';
import type { Home } from '../../../client/home.ts';
import type { FoundJournal, NatsInspection } from '../../../journal/nats/found.ts';
import type { JournalPlace } from '../../../journals.ts';
import type { Check } from './check.ts';

/** Checks a journal on servers from here, with or without a daemon; nothing for a journal in a file. */
export async function checkServers(home: Home, environment: NodeJS.ProcessEnv): Promise<Check[]> {
  const name = 'journal';
  try {
    const place = await findPlace(home, environment);
    const { inspectServers } = await import('../../../journals.ts');
    const found = place && (await inspectServers(place, home.serversMark));
    return found ? describe(found) : [];
  } catch (error) {
    const found = (error as Error).message;
    return [
      { name, state: 'fail', found, remedy: 'correct it in config.yaml of the state directory, or in TROUPE_JOURNAL' },
    ];
  }
}

/** Without a daemon: checks whether the next command can start one. */
export async function checkStart(
  home: Home,
  environment: NodeJS.ProcessEnv,
  servers: readonly Check[],
): Promise<Check[]> {
  const name = 'daemon';
  try {
    const { findNext } = await import('../../reach/journal-place.ts');
    const place = await findNext(home, environment);
    const { fileOf } = await import('../../../journals.ts');
    const path = fileOf(place, { file: home.journal });
    const file = path === undefined ? [] : await checkFile(path, home);
    const broken = [...servers, ...file].find(({ state }) => state === 'fail');
    if (!broken) {
      const found = 'not running; the next command starts it';
      return [{ name, state: 'ok', found }, ...(path === undefined ? [] : await lookThrough(path))];
    }
    // The check of the journal names the remedy.
    return [{ name, state: 'warn', found: 'not running, and cannot start: its journal cannot be opened' }, ...file];
  } catch (error) {
    return [{ name, state: 'fail', found: `not running, and cannot start: ${(error as Error).message}` }];
  }
}

/** The journal in use, if somebody named one or a daemon ran before. */
async function findPlace(home: Home, environment: NodeJS.ProcessEnv): Promise<JournalPlace | undefined> {
  // Loaded only when needed.
  const { findJournal, findNext, readConfigIn } = await import('../../reach/journal-place.ts');
  const place = findJournal(home, { environment, config: await readConfigIn(home) });
  // The check of the daemon says why no daemon could start there.
  return place ?? (await findNext(home, environment).catch(() => undefined));
}

/** Checks a journal file as the daemon would open it, but writes nothing. */
async function checkFile(path: string, home: Home): Promise<Check[]> {
  const name = 'teams';
  const { refuseForeign } = await import('../../../journal/sqlite/open.ts');
  const { requireMarked } = await import('../../../journal/sqlite/lost.ts');
  const { lastJournalOf, requireKept } = await import('../../../runtime/last-journal.ts');
  try {
    requireKept(lastJournalOf(home.directory), { path, isOwn: path === home.journal });
    refuseForeign(path, { readOnly: true });
    requireMarked(path);
    return [];
  } catch (error) {
    const found = `the journal cannot be read: ${(error as Error).message}`;
    return [{ name, state: 'fail', found, remedy: `check ${path}; Troupe leaves it as it is` }];
  }
}

/** Reads the whole file and finds damaged pages that hide batches. On such a file, a daemon starts read-only. */
async function lookThrough(path: string): Promise<Check[]> {
  if (!existsSync(path)) return [];
  const { inspectFile } = await import('../../../journal/sqlite/open.ts');
  const damage = inspectFile(path);
  const name = 'teams';
  if (!damage) return [{ name, state: 'ok', found: 'the journal can be read' }];
  return [{ name, state: 'fail', found: damage.message, remedy: `move ${path} away, and put a copy in its place` }];
}

function describe({ place, servers, failure, version, journal }: NatsInspection): Check[] {
  const away = servers.filter((one) => one.failure !== undefined);
  const missing: Check[] = away.map((one) => ({
    name: `server ${one.server}`,
    state: away.length === servers.length ? 'fail' : 'warn',
    found: `not reachable from here: ${one.failure?.message}`,
    remedy: 'check that nats-server runs there, and that no firewall blocks it',
  }));
  if (failure) return [...missing, { name: 'journal', state: 'fail', found: failure.message }];
  const on = `nats-server ${version} at ${place}`;
  if (!journal) {
    const remedy = `create it: troupe journal init ${place}${servers.length > 1 ? ' --replicas 3' : ''}`;
    return [...missing, { name: 'journal', state: 'warn', found: `there is none yet; ${on}`, remedy }];
  }
  return [...missing, { name: 'journal', state: 'ok', found: `${on}; ${kept(journal)}` }, ...problems(place, journal)];
}

function kept({ replicas, maxBytes, leaseMs, teams, hosts }: FoundJournal): string {
  const parts = [
    `${teams} ${teams === 1 ? 'team' : 'teams'}`,
    `${replicas} ${replicas === 1 ? 'replica' : 'replicas'}`,
    maxBytes === undefined ? 'no bound' : `at most ${maxBytes} bytes each`,
    leaseMs === undefined ? '' : `lease ${leaseMs / 1000} s`,
    hosts.length === 0 ? 'no daemon uses it' : `daemons ${hosts.map(({ name }) => name).join(', ')}`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function problems(place: string, { advice, lagging, durability }: FoundJournal): Check[] {
  const checks: Check[] = [];
  if (durability.advice !== undefined) {
    const found = `${durability.durability} at ${place}`;
    checks.push({ name: 'durability', state: 'warn', found, remedy: durability.advice });
  }
  if (advice !== undefined) {
    checks.push({ name: 'teams', state: 'warn', found: 'some have other settings', remedy: advice });
  }
  if (lagging.length > 0) {
    const found = `${lagging.length} ${lagging.length === 1 ? 'team has' : 'teams have'} a replica that is unreachable or behind`;
    const remedy = 'start the missing servers, and let them catch up before another one fails';
    checks.push({ name: 'replicas', state: 'warn', found, remedy });
  }
  return checks;
}

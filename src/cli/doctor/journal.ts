import type { Home } from '../../client/home.ts';
import type { FoundJournal, NatsInspection } from '../../journal/nats/inspect.ts';
import type { Check } from './check.ts';

/** A journal on servers, looked at from here, whether a daemon runs or not; nothing where teams are kept in a file. */
export async function checkServers(home: Home, environment: NodeJS.ProcessEnv): Promise<Check[]> {
  const name = 'journal';
  try {
    // Only who needs it waits until it is loaded.
    const { findJournal, readConfigIn } = await import('../journal-place.ts');
    const place = findJournal(home, { environment, config: await readConfigIn(home) });
    if (place?.kind !== 'nats') return [];
    const { inspectNatsJournal } = await import('../../journal/nats/inspect.ts');
    return describe(await inspectNatsJournal(place.url, place.base ?? home.directory));
  } catch (error) {
    const found = (error as Error).message;
    return [{ name, state: 'fail', found, remedy: 'correct it in config.yaml of the home, or in TROUPE_JOURNAL' }];
  }
}

/** While no daemon runs: whether the next command can start one, or nobody says any more where the last one kept its teams. */
export async function checkLastJournal(home: Home, environment: NodeJS.ProcessEnv): Promise<Check | undefined> {
  try {
    const { findJournal, readConfigIn } = await import('../journal-place.ts');
    const { recallJournal, lastJournalOf } = await import('../../runtime/last-journal.ts');
    const place = findJournal(home, { environment, config: await readConfigIn(home) });
    if (!place) recallJournal(lastJournalOf(home.directory));
    return undefined;
  } catch (error) {
    return { name: 'daemon', state: 'fail', found: `not running, and cannot start: ${(error as Error).message}` };
  }
}

function describe({ place, servers, failure, version, journal }: NatsInspection): Check[] {
  const away = servers.filter((one) => one.failure !== undefined);
  const missing: Check[] = away.map((one) => ({
    name: `server ${one.server}`,
    state: away.length === servers.length ? 'fail' : 'warn',
    found: `not reachable from here: ${one.failure?.message}`,
    remedy: 'see that nats-server runs there, and that no firewall is between',
  }));
  if (failure) return [...missing, { name: 'journal', state: 'fail', found: failure.message }];
  const on = `nats-server ${version} at ${place}`;
  if (!journal) {
    const remedy = `make it: troupe journal init ${place}${servers.length > 1 ? ' --replicas 3' : ''}`;
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
    hosts.length === 0 ? 'no daemon is on it' : `daemons ${hosts.map(({ name }) => name).join(', ')}`,
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
    checks.push({ name: 'teams', state: 'warn', found: 'some are kept in another way', remedy: advice });
  }
  if (lagging.length > 0) {
    const found = `${lagging.length} ${lagging.length === 1 ? 'team has' : 'teams have'} a replica that is away or behind`;
    const remedy = 'start the servers that are away, and let them catch up before another may fall';
    checks.push({ name: 'replicas', state: 'warn', found, remedy });
  }
  return checks;
}

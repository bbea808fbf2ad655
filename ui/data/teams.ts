import type { ResultOf } from '../../src/operations/index.ts';
import { call, nextVisit, reach } from './daemon.ts';
import { createSignal } from './signal.ts';

/** A team in the list. */
export type TeamLine = ResultOf<'team.list'>[number];
/** A request that waits for an answer. */
export type Waiting = ResultOf<'request.list'>[number];

/** All teams; undefined until the first answer. */
export const teams = createSignal<readonly TeamLine[] | undefined>(undefined);

/** The requests that wait for a person, of all teams, the oldest first. */
export const queue = createSignal<readonly Waiting[]>([]);

const WAIT_MS = 20_000;
/** The pause between two calls: a busy team commits a hundred times a second, and nobody reads that fast. */
const PAUSE_MS = 250;

/** Keeps both up to date while the page is open. */
export async function watchTeams(): Promise<void> {
  const seen = new Map<string, { seq: number; requests: readonly Waiting[] }>();
  for (let known: number | undefined; ;) {
    try {
      const list = await call('team.list', known === undefined ? {} : { known, wait: WAIT_MS });
      // Logged in again, for example in another tab. A reload repeats everything that was refused meanwhile.
      if (reach.get() === 'locked') return location.reload();
      await Promise.all(list.map((team) => readRequests(team, seen)));
      teams.set(list);
      known = list.reduce((sum, { seq }) => sum + seq, 0);
      setQueue(list.flatMap(({ id }) => seen.get(id)?.requests ?? []));
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    } catch {
      // The page shows that the daemon is gone or does not know us. Retrying does not log anyone in, so wait for a
      // visit then. Other failures are retried.
      if (reach.get() === 'locked') await nextVisit();
      else await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }
}

async function readRequests(
  { id, seq, waiting, status }: TeamLine,
  seen: Map<string, { seq: number; requests: readonly Waiting[] }>,
): Promise<void> {
  if (seen.get(id)?.seq === seq) return;
  const isOpen = waiting > 0 && status !== 'cleaned-up';
  const requests = isOpen ? await call('request.list', { teamId: id, status: 'pending' }) : [];
  seen.set(id, { seq, requests: requests.filter(isForPerson) });
}

function setQueue(requests: readonly Waiting[]): void {
  const next = requests.toSorted((a, b) => a.requestedAt.localeCompare(b.requestedAt));
  const before = queue.get();
  const isSame =
    next.length === before.length &&
    next.every(({ id, teamId }, i) => {
      const other = before[i];
      return other?.id === id && other.teamId === teamId;
    });
  if (!isSame) queue.set(next);
}

/** A shutdown request waits for the member that should stop; all others wait for a person. */
export function isForPerson({ kind }: { kind: string }): boolean {
  return kind !== 'shutdown';
}

import { setTimeout as sleep } from 'node:timers/promises';
import { TeamError } from '../../core/errors.ts';
import type { TeamState } from '../../core/state.ts';
import type { HostCard, Hosts } from '../../journal/hosts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { readClocks, since } from './lease.ts';
import type { Clocks, Lease } from './lease.ts';
import { hostsOf } from './lost.ts';
import { rankHosts } from './placement.ts';
import { tellUnplaced } from './waiting.ts';

/** What a daemon among others works with. */
export interface KeeperOptions {
  readonly hosts: Hosts;
  readonly ledger: Ledger;
  /** What this daemon says of itself, but for its load. */
  readonly self: Omit<HostCard, 'load'>;
  /** How many members it runs now. */
  readonly load: () => number;
  /** Starts what waits for a daemon, and ends what is no longer ours. */
  readonly reconsider: (teamId: string) => Promise<void>;
  /** Declares the members of a daemon lost that is gone. */
  readonly declareLost: (teamId: string, hostId: string) => Promise<void>;
  /** Hears how long our lease is, and when that changes. */
  readonly onLease: (leaseMs: number) => void;
  /** Another has our name by now: what we run is no longer ours. Said once; nothing is written any more. */
  readonly onOusted: (why: TeamError) => void;
  readonly onError: (error: unknown, about: { teamId?: string }) => void;
}

/** One who is not the best for a member waits so long for each who is better: it may have died a moment ago. */
const TURN_MS = 1_500;

/**
 * Keeps the lease of this daemon and looks after the others: learns of teams that were made elsewhere, says who should run
 * a member, and when a daemon's lease is over has its members declared lost. All decisions are appended to the journal, so
 * it does no harm that every daemon makes them.
 */
export async function keepHosts(options: KeeperOptions) {
  const { hosts, ledger, self, onError } = options;
  /** The lease that we renew by. Our card says it, so that a shorter one holds only when all renew by it. */
  let pace = hosts.leaseMs;
  /** The daemons that we have heard of, and when: whoever says nothing for as long as its lease may be gone. */
  const heard = new Map<string, { card: HostCard; at: Clocks }>();
  let renewed = readClocks();
  let regaining: Promise<void> | undefined;
  let reconsidering: Promise<void> | undefined;
  /** Since when daemons that have members have had no card. */
  const missing = new Map<string, Clocks>();
  const known = new Set<string>();
  let closed = false;
  let ousted: TeamError | undefined;
  const isNamesake = ({ name, home, instance }: HostCard): boolean =>
    name === self.name && (home !== self.home || instance !== self.instance);

  async function renew(): Promise<void> {
    if (ousted) throw ousted;
    const at = readClocks();
    const card = { ...self, load: options.load(), leaseMs: pace };
    await hosts.announce(card);
    renewed = at;
    heard.set(self.name, { card, at });
  }

  /** The daemons that live, as far as we know; after a pause of ours, or while no server answers, we know of none. */
  function living(): HostCard[] {
    return [...heard.values()]
      .flatMap(({ card, at }) => (since(at) <= (card.leaseMs ?? pace) ? [card] : []))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Reads who is there. Who is heard of meanwhile stays: the list may have been made before. */
  async function look(): Promise<void> {
    const at = readClocks();
    const cards = await hosts.list();
    for (const [name, one] of heard) if (one.at.steady < at.steady) heard.delete(name);
    for (const card of cards) if (!heard.has(card.name)) heard.set(card.name, { card, at });
    if (ousted || !cards.some(isNamesake)) return;
    ousted = nameLost(self.name);
    options.onOusted(ousted);
    throw ousted;
  }

  /** Teams that nobody here has asked for yet are opened, so that their members are heard of. */
  async function meetTeams(): Promise<void> {
    for (const teamId of await ledger.teams()) if (!known.has(teamId)) await meet(teamId);
  }

  async function meet(teamId: string): Promise<void> {
    known.add(teamId);
    await guard(teamId, () => options.reconsider(teamId));
  }

  async function guard(teamId: string | undefined, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!closed) onError(error, teamId === undefined ? {} : { teamId });
    }
  }

  /** A daemon counts as gone when its card is over and did not come back for half a lease, while ours was renewed. */
  async function sweep(): Promise<void> {
    const alive = new Set(living().map(({ name }) => name));
    const hosting = new Map<string, string[]>();
    for (const teamId of known) {
      await guard(teamId, async () => {
        for (const hostId of await ledger.view(teamId, hostsOf)) {
          hosting.set(hostId, [...(hosting.get(hostId) ?? []), teamId]);
        }
      });
    }
    for (const name of missing.keys()) if (alive.has(name) || !hosting.has(name)) missing.delete(name);
    for (const [hostId, teams] of hosting) {
      if (alive.has(hostId) || hostId === self.name) continue;
      const from = missing.get(hostId) ?? readClocks();
      missing.set(hostId, from);
      if (since(from) < pace / 2) continue;
      for (const teamId of teams) await guard(teamId, () => options.declareLost(teamId, hostId));
    }
  }

  async function reconsiderAll(): Promise<void> {
    for (const teamId of known) await guard(teamId, () => options.reconsider(teamId));
  }

  /**
   * After a pause: whether another has our name by now, then a new lease. What became of our members is looked at next,
   * and nothing that is written waits for that: each look at a team comes after what waits there, which may be a command
   * that waits for this lease. It need not: what was decided before the pause is refused by its old sequence, and what is
   * decided after it knows who runs which member.
   */
  async function regain(): Promise<void> {
    await look();
    await renew();
    missing.clear();
    reconsidering ??= reconsiderAll().finally(() => (reconsidering = undefined));
  }

  /** By itself: nothing that takes its time may cost us the lease. */
  async function beat(): Promise<void> {
    if (ousted) return;
    await (since(renewed) > pace ? lease.valid() : renew());
    const leaseMs = await hosts.readLease();
    if (leaseMs === pace || closed) return;
    pace = leaseMs;
    await renew();
    options.onLease(pace);
  }

  async function lookAfter(): Promise<void> {
    if (ousted) return;
    await look();
    await meetTeams();
    await sweep();
    await reconsiderAll();
    await guard(undefined, () => hosts.checkHearing(self.name));
    // All see the same cards; that the first by name says it is enough.
    const cards = living();
    if (cards.map(({ name }) => name).sort()[0] !== self.name) return;
    for (const teamId of known) await guard(teamId, () => tellUnplaced(ledger, teamId, cards));
  }

  /** A daemon of this state directory that was killed has left its card; where the directory was copied, one may live. */
  async function enter(): Promise<void> {
    const before = (await hosts.list()).find(isNamesake);
    if (before && (before.home !== self.home || (await hosts.isConnected(self.name)))) throw nameTaken(self.name);
    await renew();
    const at = readClocks();
    const cards = await hosts.list();
    for (const card of cards) heard.set(card.name, { card, at });
    if (cards.some(isNamesake)) throw nameTaken(self.name);
  }

  const lease: Lease = {
    async valid() {
      if (ousted) throw ousted;
      if (since(renewed) <= pace || closed) return;
      regaining ??= regain().finally(() => (regaining = undefined));
      await regaining;
    },
  };

  // Who has just come, and how many members each runs. Before the first look: one who comes right after it would not be seen.
  const stopLooking = hosts.onCard((card) => {
    heard.set(card.name, { card, at: readClocks() });
  });
  try {
    await enter();
  } catch (error) {
    stopLooking();
    throw error;
  }
  options.onLease(pace);
  const stopHearing = hosts.onTeam((team) => void meet(team));
  const beats = repeat(
    () => guard(undefined, beat),
    () => pace / 3,
  );
  const rounds = repeat(
    () => guard(undefined, lookAfter),
    () => pace / 3,
  );

  return {
    lease,
    list: (): readonly HostCard[] => living(),

    /** How long to wait before taking a member on; undefined where others should. */
    turnFor(state: TeamState, memberId: string): number | undefined {
      const place = rankHosts(state, memberId, living()).findIndex(({ name }) => name === self.name);
      return place === -1 ? undefined : place * TURN_MS;
    },

    /** Opens the teams there are, and starts what waits. */
    start: () => guard(undefined, meetTeams),

    /** Says that our load has changed. */
    changed: (): void => {
      if (!closed) void guard(undefined, beat);
    },

    /** Ends it. One that leaves members behind leaves its card, too: until its lease is over they are its own. */
    async close({ returning = false } = {}): Promise<void> {
      closed = true;
      stopHearing();
      stopLooking();
      await Promise.all([beats.close(), rounds.close(), reconsidering]);
      // By then the card is another's.
      if (!ousted && !returning) await guard(undefined, () => hosts.leave(self.name));
    },
  };
}

/** Does something again and again, never twice at the same time, as often as it is wanted by then. */
function repeat(work: () => Promise<void>, every: () => number) {
  const ending = new AbortController();
  const pause = (ms: number) => sleep(ms, undefined, { signal: ending.signal }).catch(() => undefined);
  const running = (async () => {
    await pause(every());
    while (!ending.signal.aborted) {
      const begun = performance.now();
      await work();
      // What takes longer than it should leaves others some room all the same.
      await pause(Math.max(every() - (performance.now() - begun), every() / 4));
    }
  })();
  return {
    async close(): Promise<void> {
      ending.abort();
      await running;
    },
  };
}

export type HostKeeper = Awaited<ReturnType<typeof keepHosts>>;

function nameTaken(name: string): TeamError {
  return new TeamError(
    'exists',
    `Another daemon on this journal is called ${name}: give this one a name of its own (troupe serve --name), ` +
      'or wait until the lease of the other is over',
  );
}

function nameLost(name: string): TeamError {
  return new TeamError(
    'exists',
    `Another daemon on this journal took the name ${name} while this one was away: the members here were ended, and this ` +
      'daemon writes nothing more. Stop it (troupe stop), and start it under another name (troupe serve --name)',
  );
}

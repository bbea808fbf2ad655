import { setTimeout as sleep } from 'node:timers/promises';
import { TeamError } from '../../core/errors.ts';
import type { TeamState } from '../../core/state.ts';
import { nameTaken } from '../../journal/hosts.ts';
import type { HostCard, Hosts } from '../../journal/hosts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { keepCards } from './cards.ts';
import { readClocks, since } from './lease.ts';
import type { Clocks, Lease } from './lease.ts';
import { hostsOf } from './lost.ts';
import { rankHosts } from './placement.ts';
import { tellUnplaced } from './waiting.ts';

/** What a daemon needs to work among others. */
export interface KeeperOptions {
  readonly hosts: Hosts;
  readonly ledger: Ledger;
  /** This daemon's card without its load. */
  readonly self: Omit<HostCard, 'load'>;
  /** How many members it runs now. */
  readonly load: () => number;
  /** Starts members that wait for a daemon, and ends those that are no longer ours. */
  readonly reconsider: (teamId: string) => Promise<void>;
  /** A team is known here from now on. Nobody here has heard what happened in it before. */
  readonly onTeam?: ((teamId: string) => Promise<void>) | undefined;
  /** Declares the members of a dead daemon lost. */
  readonly declareLost: (teamId: string, hostId: string) => Promise<void>;
  /** Gets the length of our lease, now and after each change. */
  readonly onLease: (leaseMs: number) => void;
  /** Another daemon has taken our name, so our members are no longer ours. Called once; nothing is written any more. */
  readonly onOusted: (why: TeamError) => void;
  readonly onError: (error: unknown, about: { teamId?: string }) => void;
}

/** A daemon waits this long for each daemon that ranks before it: that one may have just died. */
const TURN_MS = 1_500;

/**
 * Renews this daemon's lease and watches the others. It learns of teams created elsewhere, says which daemon should run
 * a member, and has the members of an expired daemon declared lost. All decisions go through the journal, so every
 * daemon may make them.
 */
export async function keepHosts(options: KeeperOptions) {
  const { hosts, ledger, self, onError } = options;
  /** The lease by which we renew. Our card carries it, so that a shorter one applies only when all renew by it. */
  let pace = hosts.leaseMs;
  const known = keepCards(() => pace);
  let renewed = readClocks();
  /** Since when our renewals are on time, so that the servers were there for all. */
  let steadySince = renewed;
  let regaining: Promise<void> | undefined;
  let reconsidering: Promise<void> | undefined;
  /** Since when daemons with members have no card. */
  const missing = new Map<string, Clocks>();
  const teams = new Set<string>();
  let closed = false;
  let ousted: TeamError | undefined;
  const isNamesake = ({ name, home, instance }: HostCard): boolean =>
    name === self.name && (home !== self.home || instance !== self.instance);

  async function renew(replaces?: HostCard): Promise<void> {
    if (ousted) throw ousted;
    const at = readClocks();
    const card = { ...self, load: options.load(), leaseMs: pace };
    await hosts.announce(card, { replaces });
    if (isLate()) steadySince = readClocks();
    renewed = at;
    known.hear(card, at);
  }

  /** A renewal is due after a third of the lease. */
  function isLate(): boolean {
    return since(renewed) > pace / 2;
  }

  async function look(): Promise<void> {
    const at = readClocks();
    const cards = await hosts.list();
    known.replace(cards, at);
    if (ousted || !cards.some(isNamesake)) return;
    ousted = nameLost(self.name);
    options.onOusted(ousted);
    throw ousted;
  }

  /** Opens teams that nobody here has asked for yet, so that we learn of their members. */
  async function meetTeams(): Promise<void> {
    for (const teamId of await ledger.teams()) if (!teams.has(teamId)) await meet(teamId);
  }

  async function meet(teamId: string): Promise<void> {
    teams.add(teamId);
    await guard(teamId, () => options.reconsider(teamId));
    await guard(teamId, async () => options.onTeam?.(teamId));
  }

  async function guard(teamId: string | undefined, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!closed) onError(error, teamId === undefined ? {} : { teamId });
    }
  }

  /**
   * How long a daemon's card may be missing. Its members' processes have ended by themselves before it expired
   * (`teammate/absence.ts`). After trouble with the servers, which others may have had too, it has longer to return.
   */
  function graceMs(): number {
    return isLate() || since(steadySince) < pace ? pace / 2 : pace / 15;
  }

  /**
   * Until something is due: the next look, a card's end, or the end of a missing card's grace. What became due during the
   * last look needs another one soon. What is long overdue needs none, for it was looked at: its card was renewed without
   * our hearing it, or its members wait for their own machine.
   */
  function untilLook(): number {
    const left = [...missing.values()].map((from) => graceMs() - since(from));
    const due = [...left, ...known.ends(self.name)].filter((ms) => ms > -pace / 3).map((ms) => Math.max(ms, pace / 30));
    return Math.min(pace / 3, ...due);
  }

  /** A daemon is gone if its card expired and did not return. */
  async function sweep(): Promise<void> {
    const alive = new Set(known.living().map(({ name }) => name));
    const hosting = new Map<string, string[]>();
    for (const teamId of teams) {
      await guard(teamId, async () => {
        for (const hostId of await ledger.view(teamId, hostsOf)) {
          hosting.set(hostId, [...(hosting.get(hostId) ?? []), teamId]);
        }
      });
    }
    for (const name of missing.keys()) if (alive.has(name) || !hosting.has(name)) missing.delete(name);
    for (const [hostId, hosted] of hosting) {
      if (alive.has(hostId) || hostId === self.name) continue;
      const from = missing.get(hostId) ?? readClocks();
      missing.set(hostId, from);
      if (since(from) < graceMs()) continue;
      for (const teamId of hosted) await guard(teamId, () => options.declareLost(teamId, hostId));
    }
  }

  async function reconsiderAll(): Promise<void> {
    for (const teamId of teams) await guard(teamId, () => options.reconsider(teamId));
  }

  /**
   * After a pause: checks whether another daemon took our name, then renews the lease. What became of our members is
   * checked next. No write waits for that: each look at a team queues behind commands that may themselves wait for this
   * lease. Writes need not wait. A command decided before the pause is refused by its old sequence, and a later one
   * knows which daemon runs which member.
   */
  async function regain(): Promise<void> {
    await look();
    await renew();
    missing.clear();
    reconsidering ??= reconsiderAll().finally(() => (reconsidering = undefined));
  }

  /** The heartbeat has its own loop: nothing slow may cost us the lease. */
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
    // All daemons see the same cards; it is enough if the first by name reports it.
    const cards = known.living();
    if (cards[0]?.name !== self.name) return;
    for (const teamId of teams) await guard(teamId, () => tellUnplaced(ledger, teamId, cards));
  }

  /** A killed daemon of this state directory left its card; if the directory was copied, its owner may be alive. */
  async function enter(): Promise<void> {
    const before = (await hosts.list()).find(isNamesake);
    if (before && (before.home !== self.home || (await hosts.isConnected(self.name)))) throw nameTaken(self.name);
    await renew(before);
    const at = readClocks();
    const cards = await hosts.list();
    for (const card of cards) known.hear(card, at);
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

  // Gets new daemons and loads. Before the first look, so that a daemon that comes right after it is seen.
  const stopLooking = hosts.onCard((card) => known.hear(card, readClocks()));
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
  const rounds = repeat(() => guard(undefined, lookAfter), untilLook);

  return {
    lease,
    list: (): readonly HostCard[] => known.living(),

    /** How long to wait before taking a member; undefined if only others should. Far from its project: after all others. */
    turnFor(state: TeamState, memberId: string, { isFar = false } = {}): number | undefined {
      const ranked = rankHosts(state, memberId, known.living());
      const place = ranked.findIndex(({ name }) => name === self.name);
      return place === -1 ? undefined : (place + (isFar ? ranked.length : 0)) * TURN_MS;
    },

    /** Opens the existing teams, and starts what waits. */
    start: () => guard(undefined, meetTeams),

    /** Reports that our load has changed. */
    changed: (): void => {
      if (!closed) void guard(undefined, beat);
    },

    /** Stops. A daemon that leaves members behind leaves its card too: they stay its own until the lease expires. */
    async close({ returning = false } = {}): Promise<void> {
      closed = true;
      stopHearing();
      stopLooking();
      await Promise.all([beats.close(), rounds.close(), reconsidering]);
      // If ousted, the card belongs to the other daemon.
      if (!ousted && !returning) await guard(undefined, () => hosts.leave(self.name));
    },
  };
}

/** Repeats work, never twice at once, at the interval wanted at that time. */
function repeat(work: () => Promise<void>, every: () => number) {
  const ending = new AbortController();
  const pause = (ms: number) => sleep(ms, undefined, { signal: ending.signal }).catch(() => undefined);
  const running = (async () => {
    await pause(every());
    while (!ending.signal.aborted) {
      const begun = performance.now();
      await work();
      // Slow work still leaves others some room.
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

function nameLost(name: string): TeamError {
  return new TeamError(
    'exists',
    `Another daemon on this journal took the name ${name} while this one was disconnected: its members were ended, and this ` +
      'daemon writes nothing more. Stop it (troupe stop), and start it under another name (troupe serve --name)',
  );
}

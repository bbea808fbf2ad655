import { setTimeout as sleep } from 'node:timers/promises';
import { SYSTEM } from '../core/actor.ts';
import type { AgentSpec } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { JoinInput } from '../core/member.ts';
import { parse } from '../core/parse.ts';
import type { MemberRecord, TeamState } from '../core/state.ts';
import { quote } from '../core/text.ts';
import type { Ledger, NewCommand } from '../ledger/ledger.ts';
import type { NativeMember } from './format.ts';
import { appendEntry } from './inbox-file.ts';
import { nativePaths } from './layout.ts';
import { isUsualEnd, leaving, nativeMemberName, seatOf } from './mirror/marks.ts';
import { memberIdOf, newMemberId } from './mirror/names.ts';
import { leadOf, whyNotJoin } from './mirror/presence/lead.ts';
import type { Sight } from './sight.ts';

/** A request for a seat in a native team, in the pane that its lead opened. */
export interface SeatWish {
  /** The native team. */
  readonly name: string;
  /** The native name. */
  readonly member: string;
  readonly agent: AgentSpec;
  readonly cwd: string;
  /** It plans first, and its lead approves the plan. */
  readonly plan: boolean;
  /** Its lead signs its messages. */
  readonly signs: boolean;
  /** Throws if the agent cannot run. */
  readonly check?: () => void;
  /** Identifies the process in the pane. */
  readonly ticket: string;
}

/** A member of ours with a seat in a native team. */
export interface Seated {
  readonly teamId: string;
  readonly memberId: string;
}

/**
 * The seats of our members in native teams. A seat lasts as long as the process in its pane holds it. The daemon runs
 * such a member like any other: a second loop in the pane would need its own mail, claims, restarts and permissions.
 */
export interface Seats {
  /** Turns the program in a new pane into a member of ours, which a daemon then runs. */
  sit(wish: SeatWish): Promise<Seated>;
  /**
   * Holds a seat. Resolves when its member is gone, with the reason, or after `wait`. When the holder is gone, the
   * member leaves.
   */
  hold(seat: Seated & { ticket: string }, options: { wait: number; signal: AbortSignal }): Promise<Held>;
  /** Waits for the holders of seats from an earlier daemon, and ends the seats to which none returns. */
  recover(teamId: string): Promise<void>;
  close(): void;
}

/** The state of a seat. */
export interface Held {
  readonly over: boolean;
  readonly reason?: string | undefined;
  /** It ended in a way that nobody requested. */
  readonly failed?: boolean | undefined;
}

/** A process in a pane that returns within this time had only lost its connection. */
const GRACE_MS = 3_000;

/** The same after a restart of the daemon: it must start, and the processes must notice. */
const RECOVER_MS = 20_000;

/** The oldest version lists a new teammate only after it has started the process. */
const LISTED_WITHIN_MS = 15_000;
const LOOK_MS = 100;

interface Holder {
  readonly ticket: string;
  present: number;
  timer?: NodeJS.Timeout | undefined;
}

/** What seats are made of. */
export interface SeatsOptions {
  readonly ledger: Ledger;
  readonly sight: () => Sight;
  readonly root: string;
  /** Joins the native team if necessary; returns our team. */
  readonly join: (name: string) => Promise<string>;
  readonly onError: (error: unknown) => void;
}

/** Starts with no seats. */
export function openSeats({ ledger, sight, root, join, onError }: SeatsOptions): Seats {
  const holders = new Map<string, Holder>();
  const keyOf = ({ teamId, memberId }: Seated): string => `${teamId}/${memberId}`;

  const leave = async ({ teamId, memberId }: Seated, reason: string): Promise<void> => {
    const isLive = await ledger.view(teamId, (state) => isSitting(state.members.get(memberId)));
    if (isLive) await ledger.execute(teamId, leaving(memberId, reason), () => undefined);
  };

  /** Nobody holds the seat: the member leaves unless a holder comes within this time. */
  const expect = (seat: Seated, holder: Holder, within: number): void => {
    clearTimeout(holder.timer);
    holder.timer = setTimeout(() => {
      if (holders.get(keyOf(seat)) !== holder || holder.present > 0) return;
      holders.delete(keyOf(seat));
      leave(seat, 'its pane was closed').catch(onError);
    }, within);
    holder.timer.unref();
  };

  /** Waits for an earlier holder to go: its pane may have closed only a moment ago. */
  const free = async (seat: Seated, { member, ticket }: SeatWish): Promise<void> => {
    const giveUp = performance.now() + GRACE_MS;
    for (;;) {
      const holder = holders.get(keyOf(seat));
      if (!holder || holder.ticket === ticket || holder.ticket === '') return;
      if (holder.present > 0 || performance.now() > giveUp) {
        throw new TeamError(
          'conflict',
          `${quote(member)} already sits in ${seat.teamId}, in another pane: shut that one down, or choose another name`,
        );
      }
      await sleep(LOOK_MS);
    }
  };

  const listed = async ({ name, member }: SeatWish): Promise<NativeMember> => {
    const giveUp = performance.now() + LISTED_WITHIN_MS;
    for (;;) {
      const team = sight().team(name);
      const found = team?.config?.members.find((one) => one.name === member);
      if (team && found && whyNotJoin(team) === undefined) return found;
      if (performance.now() > giveUp) {
        const why = team ? (whyNotJoin(team) ?? `${quote(member)} is not one of its members`) : 'there is no such team';
        throw new TeamError('not_found', `Nobody can sit in the native team ${quote(name)}: ${why}`);
      }
      await sleep(LOOK_MS);
    }
  };

  const take = async (native: NativeMember, wish: SeatWish): Promise<Seated> => {
    wish.check?.();
    const teamId = await join(wish.name);
    const known = await ledger.view(teamId, (state) => memberIdOf(state, wish.member));
    if (known !== undefined) await free({ teamId, memberId: known }, wish);
    const joining = await ledger.view(teamId, (state) => joiningOf(state, native, wish));
    const seat = { teamId, memberId: joining.id };
    const holder: Holder = { ticket: wish.ticket, present: 0 };
    clearTimeout(holders.get(keyOf(seat))?.timer);
    holders.set(keyOf(seat), holder);
    if (joining.commands.length > 0) await ledger.execute(teamId, joining.commands, () => undefined);
    expect(seat, holder, RECOVER_MS);
    return seat;
  };

  /** Tells the native lead, which believes that its teammate runs. */
  const tell = async ({ name, member }: SeatWish, text: string): Promise<void> => {
    const team = sight().team(name);
    if (!team) return;
    const entry = { from: member, text, timestamp: new Date().toISOString(), id: crypto.randomUUID() };
    await appendEntry(nativePaths(root, name), leadOf(team), entry);
  };

  /** Serializes requests: two at once must not both be the first. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <R>(work: () => Promise<R>): Promise<R> => {
    const mine = last.then(work, work);
    last = mine.catch(() => {});
    return mine;
  };

  return {
    async sit(wish) {
      const native = await listed(wish);
      return inTurn(() => take(native, wish)).catch(async (error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        await tell(wish, `${wish.member} could not be started: ${why}`).catch(onError);
        throw error;
      });
    },
    async hold(seat, { wait, signal }) {
      const holder = holders.get(keyOf(seat));
      if (!holder || holder.ticket !== seat.ticket) {
        throw new TeamError('not_found', `${seat.memberId} of ${seat.teamId} has no seat here: take one again`);
      }
      holder.present++;
      clearTimeout(holder.timer);
      const ended = Promise.withResolvers<void>();
      const stop = ledger.subscribe((team, { events }) => {
        const isIt = events.some((one) => one.type === 'teammate:stopped' && one.memberId === seat.memberId);
        if (team === seat.teamId && isIt) ended.resolve();
      });
      const timer = setTimeout(() => ended.resolve(), wait);
      signal.addEventListener('abort', () => ended.resolve(), { once: true });
      try {
        const first = await standing(ledger, seat);
        if (first.over || signal.aborted) return first;
        await ended.promise;
        return await standing(ledger, seat);
      } finally {
        clearTimeout(timer);
        stop();
        holder.present--;
        // A holder that goes on calls again at once.
        if (holder.present === 0) expect(seat, holder, GRACE_MS);
      }
    },
    async recover(teamId) {
      const seated = await ledger.view(teamId, (state) => [...state.members.values()].filter(isSitting));
      for (const { id: memberId } of seated) {
        const seat = { teamId, memberId };
        const holder: Holder = { ticket: '', present: 0 };
        if (!holders.has(keyOf(seat))) holders.set(keyOf(seat), holder);
        expect(seat, holder, RECOVER_MS);
      }
    },
    close() {
      for (const { timer } of holders.values()) clearTimeout(timer);
      holders.clear();
    },
  };
}

async function standing(ledger: Ledger, { teamId, memberId }: Seated): Promise<Held> {
  return ledger.view(teamId, (state) => {
    const member = state.members.get(memberId);
    if (isSitting(member)) return { over: false };
    const reason = member?.stopReason;
    return { over: true, reason, failed: reason !== undefined && !isUsualEnd(reason) };
  });
}

/** True also for a crashed member that is about to return. */
function isSitting(member: MemberRecord | undefined): boolean {
  return (
    member !== undefined && seatOf(member) !== undefined && (member.status !== 'stopped' || member.returning === true)
  );
}

/** The commands that turn a native name into a member of ours; none if it is one and only its daemon was away. */
function joiningOf(
  state: TeamState,
  native: NativeMember,
  { member: seat, agent, cwd, plan, signs }: SeatWish,
): { id: string; commands: NewCommand[] } {
  const known = memberIdOf(state, seat);
  const member = known === undefined ? undefined : state.members.get(known);
  if (member && isSitting(member)) return { id: member.id, commands: [] };
  const isLive = member !== undefined && member.status !== 'stopped';
  if (isLive && (nativeMemberName(member) === undefined || native.isActive !== undefined)) {
    throw new TeamError('conflict', `${quote(seat)} already works in ${state.teamId}: choose another name`);
  }
  const id = member?.id ?? newMemberId(state, seat);
  const input = parse(JoinInput, {
    name: id,
    role: 'teammate',
    agentType: agent.name ?? agent.kind,
    planApprovalRequired: plan,
    agent,
    cwd,
    color: native.color,
    backendType: 'tmux',
    status: 'spawning',
    metadata: { native: { seat, ...(signs && { signs }) } },
  });
  // A live member was taken for a native one, because the process came so late.
  return { id, commands: [...(isLive ? [leaving(id)] : []), { type: 'member.join', by: SYSTEM, ...input }] };
}

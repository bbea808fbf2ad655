import type { LimitWindow, TurnEnd } from '../agents/agent.ts';
import { LINE_LENGTH } from '../core/limits.ts';
import { oneLine } from '../core/text.ts';
import { AccountCause } from '../core/trouble.ts';
import { QUIET_HOURS } from '../core/waiting.ts';
import type { Door } from './door.ts';
import type { Watch } from './watch.ts';

/** What a member waits for, as its record says it. */
export interface Waiting {
  readonly reason: string;
  readonly until?: number | undefined;
  /** Of an account that cannot be used. */
  readonly account?: string;
  readonly since?: number;
  readonly known?: boolean;
  /** Of a silent turn: since when nothing was heard, in milliseconds since 1970. */
  readonly silentSince?: number;
}

/** A member's account: whether turns may begin on it, and what they say about it. */
export interface OwnAccount {
  /** Whether a turn may begin now; says so on the member's record if not. */
  isFree(): Promise<{ readonly free: boolean; readonly until?: number }>;
  /** The member goes on with another agent: this one begins no turn any more. */
  readonly isSwitched: boolean;
  /** Resolves with true when a turn may begin; with false when interrupted or switched. */
  wait(isInterrupted: () => Promise<boolean>): Promise<boolean>;
  /** A turn begins. */
  begun(): void;
  /** Its model answered. */
  answered(): Promise<void>;
  /** What its provider says about the account's windows. */
  heard(windows: readonly LimitWindow[]): Promise<void>;
  /** A turn failed. Resolves with true if the account is to blame, so that the same turn is done again later. */
  failed(end: Pick<TurnEnd, 'trouble' | 'error' | 'resetsAt'>): Promise<boolean>;
}

/** The parts of a member's account. */
export interface OwnAccountOptions {
  /** Without one, turns begin at any time, and their failures are the work's. */
  readonly account: string | undefined;
  readonly door: Door;
  readonly who: { readonly teamId: string; readonly memberId: string };
  readonly watch: Watch;
  /** Whether the member's process can go on with another agent. */
  readonly switches?: boolean | undefined;
  readonly tellWaiting: (waiting: Waiting | undefined) => Promise<void>;
  /** Instead of the pauses of the rules, in milliseconds. */
  readonly retryAfter?: ((attempt: number) => number | undefined) | undefined;
}

/** Follows the account of a member. */
export function openAccount(options: OwnAccountOptions): OwnAccount {
  const { account, door, who, watch, tellWaiting, retryAfter, switches = false } = options;
  const hasAccount = account !== undefined;
  /** What the member's record says. */
  let told: string | undefined;
  let tries = 0;
  /** The turn that shows whether the account can be used again began at this time. */
  let tryingSince: number | undefined;
  let isTry = false;
  /** What was known about the limit when a turn was let in, and when the running one was. */
  let [enteredAt, begunAt] = [0, 0];
  let isSwitched = false;

  async function tell(waiting: Waiting | undefined): Promise<void> {
    const next = waiting && JSON.stringify(waiting);
    if (next === told) return;
    await tellWaiting(waiting);
    told = next;
  }

  async function isFree(): Promise<{ free: boolean; until?: number }> {
    if (isSwitched) return { free: false };
    const entry = await door.call('account.enter', { ...who, switches });
    tries = entry.tries ?? entry.account?.limit?.tries ?? 0;
    isTry = entry.isTry === true;
    if (entry.free) {
      enteredAt = entry.limitAt ?? 0;
      await tell(undefined);
      return { free: true };
    }
    if (entry.switched) {
      isSwitched = true;
      await tell(undefined);
      return { free: false };
    }
    const { id = '', limit } = entry.account ?? {};
    const { until = Date.now() } = entry;
    if (entry.quiet) {
      await tell({ reason: QUIET_HOURS, until });
      return { free: false, until };
    }
    if (limit) await tell({ reason: limit.cause, account: id, since: limit.since, until, known: limit.known });
    else await tell({ reason: `the account ${id} can be used again: members go on one after the other`, until });
    return { free: false, until };
  }

  return {
    isFree,
    get isSwitched() {
      return isSwitched;
    },
    async wait(isInterrupted) {
      for (;;) {
        const { free, until = 0 } = await isFree();
        if (free) return true;
        if (isSwitched) return false;
        if (await isInterrupted()) return false;
        await watch.next({ until });
      }
    },
    begun() {
      begunAt = enteredAt;
      tryingSince = isTry ? Date.now() : undefined;
    },
    async answered() {
      if (tryingSince === undefined) return;
      const worksSince = tryingSince;
      tryingSince = undefined;
      await door.call('account.report', { ...who, worksSince });
    },
    async heard(windows) {
      if (!hasAccount) return;
      const told = windows.map(({ name, used, resetsAt }) => ({
        name: oneLine(name, 100),
        used: Math.min(1_000, Math.max(0, used)),
        ...(resetsAt !== undefined && { resetsAt: Math.round(resetsAt) }),
      }));
      await door.call('account.report', { ...who, windows: told });
    },
    async failed({ trouble, error = '', resetsAt }) {
      tryingSince = undefined;
      if (!hasAccount) return false;
      const cause = AccountCause.safeParse(trouble).data;
      if (!cause) return false;
      const pauseMs = retryAfter?.(tries + 1);
      await door.call('account.report', {
        ...who,
        cause,
        reason: oneLine(error, LINE_LENGTH),
        knownAt: begunAt,
        ...(resetsAt !== undefined && { resetsAt: Math.round(resetsAt) }),
        ...(pauseMs !== undefined && { pauseMs }),
      });
      return true;
    },
  };
}

import { AGENTS } from '../agents/catalog.ts';
import type { AgentRow, Login } from '../agents/row.ts';
import { loginQuestion } from '../core/account-question.ts';
import { limitTime, mergeAccounts, mergeWindows } from '../core/account.ts';
import type { Account } from '../core/account.ts';
import { SYSTEM } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import { nounOf } from '../core/event.ts';
import type { EventOf } from '../core/event.ts';
import { isExpected } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import { turnGate } from '../core/turn-gate.ts';
import type { Ledger, NewCommand } from '../ledger/ledger.ts';

/** Whether a member may begin a turn: yes, or why not and until when. */
export type Entry =
  | { readonly free: true; readonly isTry: boolean; readonly tries: number; readonly limitAt?: number | undefined }
  | { readonly free: false; readonly account: Account; readonly until: number }
  | { readonly free: false; readonly quiet: true; readonly until: number }
  | { readonly free: false; readonly switched: true; readonly until: number };

/** Knows what all teams of this daemon know about accounts, and lets no turn begin on one that cannot be used. */
export interface Accounts {
  /** Looks at all teams: their journals have what earlier daemons knew. */
  start(): Promise<void>;
  /**
   * Whether a member may begin a turn now. If a try is needed, only one member gets it. If its process `switches`, it may
   * be told to go on with another agent; that is recorded then.
   */
  enter(teamId: string, memberId: string, options?: { readonly switches?: boolean }): Promise<Entry>;
  /** Looks at a team that was made on another machine: what it knows holds here, too. */
  meet(teamId: string): Promise<void>;
  /** What is known about each account that a live member uses. */
  list(): readonly Account[];
  close(): void;
}

/** A member that tries an account and says nothing for this long no longer keeps others from trying. */
const TRY_MS = 10 * 60_000;

interface Try {
  readonly teamId: string;
  readonly memberId: string;
  readonly at: number;
}

/** Error codes that mean that a team needs to know nothing more. */
const OVER: readonly string[] = ['team_closed', 'not_found', 'member_stopped'];

/**
 * Every team's journal has what its own members need to know about their accounts, so that it survives a restart and
 * holds on every machine. This copies what one team learns to the others that use the account.
 */
export function keepAccounts(ledger: Ledger, onError: (error: unknown, teamId: string) => void): Accounts {
  const accounts = new Map<string, Account>();
  /** Which accounts the live members of each team use. */
  const users = new Map<string, ReadonlySet<string>>();
  const tries = new Map<string, Try>();
  /** Since when the accounts that a person was asked about are not logged in. */
  const asked = new Map<string, number>();

  const unsubscribe = ledger.subscribe((teamId, { events }, state) => {
    // Most events are about something else.
    if (events.some((event) => ['team', 'teammate'].includes(nounOf(event)))) noteUsers(state);
    for (const event of events) {
      if (event.type === 'account:changed') heard(teamId, event, state);
      else if (event.type === 'teammate:changed') {
        for (const id of [event.account, ...Object.values(event.fallbackAccounts ?? {})]) if (id) tell(id, teamId);
      } else if (event.type === 'teammate:stopped') endTries(teamId, event.memberId);
    }
  });

  function noteUsers(state: TeamState): void {
    const { teamId, team, members } = state;
    const used = new Set<string>();
    if (team?.status === 'active') {
      for (const member of members.values()) {
        if (!isExpected(member)) continue;
        const { account, fallbackAccounts = {}, standIn } = member;
        for (const id of [account, standIn?.own.account, ...Object.values(fallbackAccounts)]) if (id) used.add(id);
      }
    }
    if (used.size > 0) users.set(teamId, used);
    else users.delete(teamId);
  }

  /** The newest word about an account counts, whichever team it comes from. */
  function learn(account: Account): void {
    const known = accounts.get(account.id);
    accounts.set(account.id, known ? mergeAccounts(known, account) : account);
  }

  function heard(teamId: string, event: EventOf<'account:changed'>, state: TeamState): void {
    const { account: id, windows = [], limit, asOf } = event;
    const account = state.accounts.get(id);
    // The team that a copy comes from tells all others itself. A copy of a copy could go around forever.
    if (!account || asOf !== undefined) return;
    // The team's other windows may be older than those of others.
    const known = accounts.get(id);
    learn({ ...account, windows: mergeWindows(known?.windows ?? account.windows, windows) });
    if (limit !== undefined) tries.delete(id);
    for (const other of users.keys()) if (other !== teamId) tell(id, other);
    askToLogIn(id, teamId, state);
  }

  /** Asks a person once for each account, in one of its teams. */
  function askToLogIn(id: string, teamId: string, state: TeamState): void {
    const { limit } = accounts.get(id) ?? {};
    if (limit?.cause !== 'unauthorised') asked.delete(id);
    else if (asked.get(id) !== limit.since) {
      const question = loginQuestion(state, id, loginOf(id));
      asked.set(id, limit.since);
      if (question) run(teamId, { type: 'request.raise', by: SYSTEM, ...question });
    }
  }

  /** Writes what is known about an account into the journal of a team that uses it. */
  function tell(id: string, teamId: string): void {
    const account = accounts.get(id);
    if (!account || !users.get(teamId)?.has(id)) return;
    const { at, windows, limit } = account;
    const limitAt = limitTime(account);
    const told = limitAt === undefined ? { asOf: at } : { limit: limit ?? null, asOf: limitAt };
    run(teamId, { type: 'account.set', by: SYSTEM, account: id, windows, ...told });
  }

  function run(teamId: string, command: NewCommand): void {
    ledger
      .execute(teamId, command, () => undefined)
      .catch((error: unknown) => {
        if (!(error instanceof TeamError) || !OVER.includes(error.code)) onError(error, teamId);
      });
  }

  /** Lets a member go on with another agent. If that one has to be tried, this member does. */
  async function switchTo(
    one: Try,
    { to, account }: { to: string | null; account?: string | undefined },
  ): Promise<Entry> {
    const { teamId, memberId, at } = one;
    endTries(teamId, memberId);
    const limit = accounts.get(account ?? '')?.limit;
    if (account !== undefined && limit && !limit.known) tries.set(account, one);
    await ledger.execute(teamId, { type: 'member.change', by: SYSTEM, memberId, use: to }, () => undefined);
    return { free: false, switched: true, until: at };
  }

  function endTries(teamId: string, memberId: string): void {
    for (const [id, one] of tries) if (one.teamId === teamId && one.memberId === memberId) tries.delete(id);
  }

  return {
    async start() {
      const look = (state: TeamState): void => {
        noteUsers(state);
        for (const account of state.accounts.values()) learn(account);
      };
      await ledger.viewAll(look, { unreadable: () => undefined });
      // An earlier daemon may have ended before it asked.
      for (const [teamId, used] of users) {
        await ledger.view(teamId, (state) => {
          for (const id of used) askToLogIn(id, teamId, state);
        });
      }
    },
    async meet(teamId) {
      await ledger.view(teamId, (state) => {
        noteUsers(state);
        for (const account of state.accounts.values()) {
          learn(account);
          for (const other of users.keys()) if (other !== teamId) tell(account.id, other);
        }
      });
    },
    async enter(teamId, memberId, { switches = false } = {}) {
      const now = Date.now();
      const triedUntil = (id: string): number | undefined => {
        const one = tries.get(id);
        const isOurs = one?.teamId === teamId && one.memberId === memberId;
        return one && !isOurs && now - one.at < TRY_MS ? one.at + TRY_MS : undefined;
      };
      const known = { now, canSwitch: switches, account: (id: string) => accounts.get(id), triedUntil };
      const { gate, id = '' } = await ledger.view(teamId, (state) => ({
        gate: turnGate(state, memberId, known),
        id: state.members.get(memberId)?.account,
      }));
      const account = accounts.get(id);
      const failed = account?.limit?.tries ?? 0;
      const limitAt = limitTime(account);
      if (gate.kind === 'quiet') return { free: false, quiet: true, until: gate.until };
      if (gate.kind === 'open') return { free: true, isTry: gate.isTry, tries: failed, limitAt };
      if (gate.kind === 'switch') return switchTo({ teamId, memberId, at: now }, gate);
      if (gate.kind === 'closed' && account) {
        if (gate.ask) run(teamId, { type: 'request.raise', by: SYSTEM, ...gate.ask });
        return { free: false, account, until: gate.until };
      }
      tries.set(id, { teamId, memberId, at: now });
      return { free: true, isTry: true, tries: failed, limitAt };
    },
    list() {
      const used = new Set([...users.values()].flatMap((some) => [...some]));
      return [...accounts.values()].filter(({ id }) => used.has(id));
    },
    close: unsubscribe,
  };
}

/** How one logs in to an account: its name begins with that of its login. */
function loginOf(id: string): Login | undefined {
  const name = /^[^@/]*/.exec(id)?.[0];
  return Object.values(AGENTS as Readonly<Record<string, AgentRow>>).find(({ login }) => login?.name === name)?.login;
}

import { AGENTS } from '../agents/catalog.ts';
import type { AgentRow, Login } from '../agents/row.ts';
import { accountGate } from '../core/account-gate.ts';
import { loginQuestion } from '../core/account-question.ts';
import type { Account } from '../core/account.ts';
import { SYSTEM } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import { nounOf } from '../core/event.ts';
import type { EventOf } from '../core/event.ts';
import { quietHoursOf, quietUntil } from '../core/quiet-hours.ts';
import { isExpected } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { Ledger, NewCommand } from '../ledger/ledger.ts';

/** Whether a member may begin a turn: yes, or why not and until when. */
export type Entry =
  | { readonly free: true; readonly isTry: boolean; readonly tries: number }
  | { readonly free: false; readonly account: Account; readonly until: number }
  | { readonly free: false; readonly quiet: true; readonly until: number };

/** Knows what all teams of this daemon know about accounts, and lets no turn begin on one that cannot be used. */
export interface Accounts {
  /** Looks at all teams: their journals have what earlier daemons knew. */
  start(): Promise<void>;
  /** Whether a member may begin a turn now. If a try is needed, only one member gets it. */
  enter(teamId: string, memberId: string): Promise<Entry>;
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
      else if (event.type === 'teammate:changed' && event.account !== undefined) tell(event.account, teamId);
      else if (event.type === 'teammate:stopped') endTries(teamId, event.memberId);
    }
  });

  function noteUsers(state: TeamState): void {
    const { teamId, team, members } = state;
    const used = new Set<string>();
    if (team?.status === 'active') {
      for (const member of members.values()) {
        if (member.account !== undefined && isExpected(member)) used.add(member.account);
      }
    }
    if (used.size > 0) users.set(teamId, used);
    else users.delete(teamId);
  }

  /** The newest word about an account counts, whichever team it comes from. */
  function learn(account: Account): boolean {
    const known = accounts.get(account.id);
    if (known && known.at > account.at) return false;
    accounts.set(account.id, account);
    return true;
  }

  function heard(teamId: string, { account: id, limit }: EventOf<'account:changed'>, state: TeamState): void {
    const account = state.accounts.get(id);
    if (!account || !learn(account)) return;
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
    const { windows, limit } = account;
    const command: NewCommand = { type: 'account.set', by: SYSTEM, account: id, windows, limit: limit ?? null };
    run(teamId, command);
  }

  function run(teamId: string, command: NewCommand): void {
    ledger
      .execute(teamId, command, () => undefined)
      .catch((error: unknown) => {
        if (!(error instanceof TeamError) || !OVER.includes(error.code)) onError(error, teamId);
      });
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
    async enter(teamId, memberId) {
      const now = Date.now();
      const { id, quiet } = await ledger.view(teamId, ({ members, team }) => {
        const member = members.get(memberId);
        return { id: member?.account, quiet: quietUntil(quietHoursOf(member, team), now) };
      });
      if (quiet > now) return { free: false, quiet: true, until: quiet };
      const account = id === undefined ? undefined : accounts.get(id);
      if (!account) return { free: true, isTry: false, tries: 0 };
      const gate = accountGate(account, `${teamId}/${memberId}`, now);
      const failed = account.limit?.tries ?? 0;
      if (gate.kind === 'open') return { free: true, isTry: gate.isTry, tries: failed };
      if (gate.kind === 'closed') return { free: false, account, until: gate.until };
      const trying = tries.get(account.id);
      const isOurs = trying?.teamId === teamId && trying.memberId === memberId;
      if (trying && !isOurs && now - trying.at < TRY_MS) return { free: false, account, until: trying.at + TRY_MS };
      tries.set(account.id, { teamId, memberId, at: now });
      return { free: true, isTry: true, tries: failed };
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

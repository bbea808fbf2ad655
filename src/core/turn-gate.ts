import { accountGate } from './account-gate.ts';
import type { AccountGate } from './account-gate.ts';
import type { Account, AccountLimit } from './account.ts';
import { hasProcess } from './agent-kinds.ts';
import { isHandedIn } from './approval.ts';
import { onLimitOf } from './limit-policy.ts';
import { limitAnswer, limitQuestion } from './limit-question.ts';
import { quietHoursOf, quietUntil } from './quiet-hours.ts';
import { assignedTo } from './ready.ts';
import type { RaiseRequestInput } from './request.ts';
import type { MemberRecord, TeamState } from './state.ts';
import { requireTask } from './view.ts';

/** A limit that ends sooner is waited for: another agent has to read itself in first, and that costs. */
const WORTH_MS = 5 * 60_000;

/** What is known about accounts now, in all teams. */
export interface KnownAccounts {
  readonly now: number;
  /** Whether the member's process can go on with another agent. */
  readonly canSwitch: boolean;
  /** What is known of an account. */
  account(id: string): Account | undefined;
  /** Until when another member finds out whether the account can be used again. */
  triedUntil(id: string): number | undefined;
}

/**
 * Whether a member may begin a turn:
 *
 * - `open`, `try`: on the account that it uses.
 * - `switch`: with another agent, by its name, or (null) with its own again.
 * - `quiet`, `closed`: not before `until`. With `ask`, a person is asked what to do meanwhile.
 */
export type TurnGate =
  | Exclude<AccountGate, { kind: 'closed' }>
  | { readonly kind: 'quiet'; readonly until: number }
  | { readonly kind: 'switch'; readonly to: string | null; readonly account?: string | undefined }
  | { readonly kind: 'closed'; readonly until: number; readonly ask?: RaiseRequestInput | undefined };

/** Decides whether a member may begin a turn now, and with which agent. */
export function turnGate(state: TeamState, memberId: string, known: KnownAccounts): TurnGate {
  const { now } = known;
  const member = state.members.get(memberId);
  if (!member) return { kind: 'open', isTry: false };
  const quiet = quietUntil(quietHoursOf(member, state.team), now);
  if (quiet > now) return { kind: 'quiet', until: quiet };
  const gateOf = (account: string | undefined): AccountGate => gateOn(account, `${state.teamId}/${memberId}`, known);
  const { account } = member;
  const gate = gateOf(account);
  if (account === undefined || gate.kind !== 'closed') {
    const { own } = member.standIn ?? {};
    const isBack = own && known.canSwitch && isBetweenTasks(state, memberId) && gateOf(own.account).kind !== 'closed';
    return isBack ? { kind: 'switch', to: null, account: own.account } : gate;
  }
  const limit = known.account(account)?.limit;
  if (!limit || !known.canSwitch || !isWorthIt(member, limit, gate.until - now)) return gate;
  let { until } = gate;
  for (const other of othersFor(state, { ...member, account }, limit)) {
    const next = gateOf(other.account);
    if (next.kind !== 'closed') return { kind: 'switch', to: other.name, account: other.account };
    until = Math.min(until, next.until);
  }
  return { kind: 'closed', until, ask: limitQuestion(state, member, limit) };
}

function gateOn(account: string | undefined, key: string, known: KnownAccounts): AccountGate {
  if (account === undefined) return { kind: 'open', isTry: false };
  const gate = accountGate(known.account(account), key, known.now);
  const tried = gate.kind === 'try' ? known.triedUntil(account) : undefined;
  return tried === undefined ? gate : { kind: 'closed', until: tried };
}

/** A stand-in that nobody logged in is left, too: a person is asked about it anyway. */
function isWorthIt({ agent, standIn }: MemberRecord, { cause }: AccountLimit, ms: number): boolean {
  if (!agent || !hasProcess(agent) || ms < WORTH_MS) return false;
  return cause === 'limited' || (standIn !== undefined && cause === 'unauthorised');
}

/** The agents that the member may go on with, its own first. One with the same account would be refused, too. */
function othersFor(
  state: TeamState,
  member: MemberRecord & { readonly account: string },
  limit: AccountLimit,
): { readonly name: string | null; readonly account: string | undefined }[] {
  const { standIn, fallbackAccounts = {}, account } = member;
  const { policy, agents } = onLimitOf(member, state.team);
  const chosen = limitAnswer(state, account, limit);
  const names = agents.map(({ name }) => name).filter((name) => policy === 'fallback' || name === chosen);
  const own = standIn ? [{ name: null, account: standIn.own.account }] : [];
  return [...own, ...names.map((name) => ({ name, account: fallbackAccounts[name] }))].filter(
    (other) => other.name !== (standIn?.name ?? null) && (other.account === undefined || other.account !== account),
  );
}

/** What it has handed in needs its agent no more. */
function isBetweenTasks(state: TeamState, memberId: string): boolean {
  return assignedTo(state, memberId).every((id) => {
    const { status, work } = requireTask(state, id);
    return status !== 'in_progress' || isHandedIn(work);
  });
}

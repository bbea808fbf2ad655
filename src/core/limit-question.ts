import { describeLimit } from './account-words.ts';
import type { AccountLimit } from './account.ts';
import { onLimitOf } from './limit-policy.ts';
import type { RaiseRequestInput, TeamRequest } from './request.ts';
import { isExpected } from './state.ts';
import type { MemberRecord, TeamState } from './state.ts';
import { joinSome } from './text.ts';

const WAIT = 'wait';
const STOP = 'stop';
const USE = 'use ';

/** The question what the members of a limited account should do, unless it was asked since the limit began. */
export function limitQuestion(
  state: TeamState,
  member: MemberRecord,
  limit: AccountLimit,
): RaiseRequestInput | undefined {
  const { account = '' } = member;
  const { agents } = onLimitOf(member, state.team);
  if (limit.cause !== 'limited' || !asks(state, member) || findAsked(state, account, limit)) return undefined;
  const names = askersOn(state, account).map(({ id }) => id);
  const content =
    `The account is ${describeLimit(limit, account)}: ${limit.reason}\n` +
    `${joinSome(names, ', ')} ${names.length === 1 ? 'waits' : 'wait'}. "${WAIT}": until the reset. ` +
    (agents.length > 0 ? `"${USE}NAME": go on with that agent, and back at the next task after the reset. ` : '') +
    `"${STOP}": stop ${names.length === 1 ? 'it' : 'them'}; the tasks go back to the list.`;
  const choices = [WAIT, ...agents.map(({ name }) => `${USE}${name}`), STOP];
  return {
    kind: 'account',
    memberId: member.id,
    content,
    detail: { account, cause: limit.cause, since: limit.since },
    question: { choices, freeText: false, otherwise: 'go-on', fallback: WAIT },
  };
}

/** The agent that a person chose for the members of a limited account. */
export function limitAnswer(state: TeamState, account: string, limit: AccountLimit): string | undefined {
  const { status, choice } = findAsked(state, account, limit) ?? {};
  return status === 'approved' && choice?.startsWith(USE) ? choice.slice(USE.length) : undefined;
}

/** The members that a person stops with this answer. */
export function stoppedBy(state: TeamState, choice: string | undefined, { detail }: TeamRequest): string[] {
  if (choice !== STOP) return [];
  return askersOn(state, String(detail?.['account'])).map(({ id }) => id);
}

function asks(state: TeamState, member: MemberRecord): boolean {
  return onLimitOf(member, state.team).policy === 'ask';
}

function askersOn(state: TeamState, account: string): MemberRecord[] {
  return [...state.members.values()].filter(
    (member) => member.account === account && isExpected(member) && asks(state, member),
  );
}

/** A withdrawn question was about a member that has stopped since. */
function findAsked({ requests }: TeamState, account: string, { since }: AccountLimit): TeamRequest | undefined {
  return [...requests.values()].findLast(
    ({ kind, detail, status }) =>
      kind === 'account' && detail?.['account'] === account && detail['since'] === since && status !== 'withdrawn',
  );
}

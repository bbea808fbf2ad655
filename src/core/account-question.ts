import type { RaiseRequestInput } from './request.ts';
import { isExpected } from './state.ts';
import type { TeamState } from './state.ts';
import { shorten } from './text.ts';
import { requireTeam } from './view.ts';

/** How a person logs in: a command, or the variables that hold a key. */
export interface HowToLogIn {
  readonly command: string;
  readonly folder: { readonly variable: string };
  readonly keys: readonly string[];
}

/** How much of the agent's words a question quotes. */
const QUOTED = 200;

/**
 * The question about an account without a valid login, unless it was asked since the login failed. It follows from the
 * state, not from an event, so that it is not lost with a daemon.
 */
export function loginQuestion(
  state: TeamState,
  id: string,
  how: HowToLogIn | undefined,
): RaiseRequestInput | undefined {
  const limit = state.accounts.get(id)?.limit;
  if (limit?.cause !== 'unauthorised' || requireTeam(state).status !== 'active') return undefined;
  const member = [...state.members.values()].find((one) => one.account === id && isExpected(one));
  const wasAsked = [...state.requests.values()].some(
    ({ kind, detail, requestedAt }) =>
      kind === 'account' && detail?.['account'] === id && requestedAt.getTime() >= limit.since,
  );
  if (!member || wasAsked) return undefined;
  const content =
    `The account ${id} is not logged in: ${shorten(limit.reason, QUOTED)}\n${adviceFor(id, how)} ` +
    'Yes goes on at once. Without an answer, one member tries again from time to time.';
  return { kind: 'account', memberId: member.id, content, detail: { account: id, cause: limit.cause } };
}

function adviceFor(id: string, how: HowToLogIn | undefined): string {
  if (!how) return 'Log in with its own program.';
  const name = /@([^/]+)/.exec(id)?.[1];
  if (name?.startsWith('env-')) {
    return `Its key comes from the environment (${how.keys.join(', ')}): run troupe up with a valid one and restart the member.`;
  }
  const where = name === undefined ? '' : `, with its ${how.folder.variable}`;
  return `Log in with: ${how.command}${where}.`;
}

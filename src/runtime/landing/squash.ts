import { catalogNameOf } from '../../core/agent-kinds.ts';
import type { TeamState } from '../../core/state.ts';
import { oneLine } from '../../core/text.ts';
import { requireTask } from '../../core/view.ts';
import type { Checkout } from '../../workspaces/checkout.ts';
import type { NewCommit } from '../../workspaces/depot/commit.ts';

/** The most of a result that goes into a commit's message, in characters. */
const BODY_LENGTH = 2_000;

/** Who signs commits if the user's git has no name. */
const NOBODY = { name: 'Troupe', email: 'troupe@troupe.invalid' };

/** The one commit of a task on the team's branch: the person is its author, the member is named beside. */
export function squashOf(
  state: TeamState,
  {
    taskId,
    memberId,
    result = '',
    checkout,
  }: { taskId: string; memberId: string; result: string | undefined; checkout: Checkout },
): Pick<NewCommit, 'message' | 'trailers' | 'author'> {
  const { title } = requireTask(state, taskId);
  const agent = state.members.get(memberId)?.agent;
  const paragraph = result.trim().split(/\n\s*\n/, 1)[0] ?? '';
  // A line that looks like a trailer would be read as one.
  const body = oneLine(paragraph, BODY_LENGTH);
  const name = agent ? `${memberId} (${catalogNameOf(agent)})` : memberId;
  return {
    message: body === '' ? oneLine(title, 200) : `${oneLine(title, 200)}\n\n${body}`,
    trailers: [
      ['Task-Id', taskId],
      ['Team', state.teamId],
      ['Co-authored-by', `${name} <${memberId}@${state.teamId}.troupe.invalid>`],
    ],
    author: checkout.person ?? NOBODY,
  };
}

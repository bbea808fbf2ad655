import { bestReady } from '../../src/core/ready.ts';
import type { TeamState } from '../../src/core/state.ts';
import { teamUsage, viewTask, viewTeam } from '../../src/core/view.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { TEAM } from './commands.ts';

/** Everything visible of a team, as plain JSON. */
export function observed(ledger: Ledger, teamId: string = TEAM): Promise<unknown> {
  return ledger.view(teamId, (state, seq) => ({ seq, ...observe(state) }));
}

export function observe(state: TeamState): object {
  const { index } = state;
  const members = [...state.members.keys()];
  return JSON.parse(
    JSON.stringify({
      team: state.team && viewTeam(state),
      tasks: [...state.tasks.values()].map((task) => viewTask(state, task)),
      inboxes: members.map((id) => index.inboxes.get(id)?.ids.map((messageId) => state.messages.get(messageId)) ?? []),
      waiting: members.map((id) => [...(index.inboxes.get(id)?.waiting ?? [])].sort()),
      broadcasts: [...state.broadcasts],
      requests: [...state.requests.values()],
      notes: [...state.notes.values()],
      usage: [teamUsage(state), [...state.memberUsage], [...state.taskUsage]],
      receipts: [...state.receipts],
      nextTask: state.nextTask,
      nextNote: state.nextNote,
      next: members.map((id) => bestReady(state, id)?.id),
      counts: index.counts,
      waits: Object.fromEntries(index.waits),
    }),
  ) as object;
}

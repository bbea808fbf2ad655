import { evolve } from '../../src/core/evolve.ts';
import { waitsOf } from '../../src/core/obstacles.ts';
import { bestReady } from '../../src/core/ready.ts';
import type { TeamState } from '../../src/core/state.ts';
import { pendingRequests } from '../../src/core/tables.ts';
import { teamUsage, viewTask, viewTeam } from '../../src/core/view.ts';

/**
 * Everything visible of a state: what the faces show, what the indexes return, and the order in which each member would
 * get its tasks. Two states with equal pictures are the same team.
 */
export function picture(state: TeamState) {
  const members = [...state.members.keys()];
  return {
    teamId: state.teamId,
    team: state.team && viewTeam(state),
    tasks: [...state.tasks.values()].map((task) => viewTask(state, task)),
    records: [...state.tasks.values()],
    deleted: [...state.deleted],
    dependents: Object.fromEntries([...state.index.dependents].map(([id, those]) => [id, [...those].sort()])),
    approved: [...state.members.values()].map((member) => member.planApproved),
    paces: [...state.members.values()].map(({ restarts, spawns, sendsPaidAt }) => ({ restarts, spawns, sendsPaidAt })),
    waits: [...state.tasks.keys()].map((id) => waitsOf(state, id)),
    counts: { ...state.index.counts },
    messages: [...state.messages.values()],
    inboxes: members.map((id) => inboxOf(state, id)),
    broadcasts: [...state.broadcasts],
    requests: [...state.requests.values()],
    pending: pendingRequests(state)
      .map(({ id }) => id)
      .sort(),
    pendingByTask: [...state.tasks.keys()].map((taskId) =>
      pendingRequests(state, taskId)
        .map(({ id }) => id)
        .sort(),
    ),
    notes: [...state.notes.values()],
    usage: [[...state.memberUsage], [...state.taskUsage], teamUsage(state)],
    accounts: [...state.accounts].sort(([a], [b]) => (a < b ? -1 : 1)),
    overlaps: [...state.overlaps].sort(([a], [b]) => (a < b ? -1 : 1)),
    receipts: [...state.receipts],
    nextTask: state.nextTask,
    completions: state.completions,
    nextNote: state.nextNote,
    work: members.map((id) => workFor(state, id)),
  };
}

/** A copy of a state, with every index and heap. */
export function copyOf(state: TeamState): TeamState {
  return structuredClone({ ...state, undo: undefined });
}

/** The tasks that a member would get if it claimed until none is left, from the present heaps. */
export function workFor(state: TeamState, memberId: string): string[] {
  const copy = copyOf(state);
  const order: string[] = [];
  for (let task = bestReady(copy, memberId); task; task = bestReady(copy, memberId)) {
    order.push(task.id);
    evolve(copy, { type: 'task:claimed', at: 0, by: memberId, taskId: task.id, memberId, epoch: task.epoch + 1 });
  }
  return order;
}

function inboxOf(state: TeamState, memberId: string) {
  const inbox = state.index.inboxes.get(memberId);
  return { ids: inbox?.ids ?? [], waiting: [...(inbox?.waiting ?? [])] };
}

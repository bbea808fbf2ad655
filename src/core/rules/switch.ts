import { isHandedIn } from '../approval.ts';
import type { CommandEnvelope } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { onLimitOf } from '../limit-policy.ts';
import { NO_SESSION } from '../member-marks.ts';
import { assignedTo } from '../ready.ts';
import type { MemberRecord, TaskRecord, TeamState } from '../state.ts';
import { requireTask } from '../view.ts';
import { freeFiles } from './files.ts';
import { pendingGate } from './request.ts';

/**
 * A member goes on with another agent, by the name of a fallback, or (null) with its own again. It keeps its name, its
 * workspace and its tasks. What it holds goes on under a new epoch, so that a late answer of the first agent does not
 * count. The conversation with its own agent waits; one with a fallback ends with it.
 */
export function switchAgent(
  state: TeamState,
  command: CommandEnvelope,
  member: MemberRecord,
  to: string | null,
): TeamEvent[] {
  const { id: memberId, agent, sessionId, model, account, standIn } = member;
  if (to === (standIn?.name ?? null) || !agent) return [];
  const own = standIn?.own ?? { agent, sessionId, model, account };
  const reason = to === null ? 'its own agent can go on' : `goes on with ${to}`;
  const next = to === null ? own : fallbackOf(state, member, to);
  // A task about which a person decides waits for the answer, not for an agent.
  const held = assignedTo(state, memberId)
    .map((taskId) => requireTask(state, taskId))
    .filter(({ id, status, work }) => status === 'in_progress' && !isHandedIn(work) && !pendingGate(state, id));
  return [
    ...held.flatMap((task) => keepFor(command, memberId, task, reason)),
    event(command, 'teammate:switched', {
      memberId,
      ...next,
      ...(to !== null && { standIn: { name: to, since: command.at, own } }),
    }),
    ...freeFiles(state, command, held),
  ];
}

function fallbackOf(state: TeamState, member: MemberRecord, name: string) {
  const fallback = onLimitOf(member, state.team).agents.find((one) => one.name === name);
  if (!fallback) throw new TeamError('conflict', `Member ${member.id} has no fallback ${name}`);
  const { agent } = fallback;
  return { agent, sessionId: NO_SESSION, model: agent.model, account: member.fallbackAccounts?.[name] };
}

/** The task is released, and reserved for the same member: nobody else may take it between two agents. */
function keepFor(command: CommandEnvelope, memberId: string, task: TaskRecord, reason: string): TeamEvent[] {
  const { id: taskId, reserved } = task;
  const epoch = task.epoch + 1;
  return [
    event(command, 'task:released', { taskId, memberId, epoch, reason }),
    ...(reserved ? [] : [event(command, 'task:assigned', { taskId, assigneeId: memberId, epoch })]),
  ];
}

import { SYSTEM, USER } from '../actor.ts';
import type { CommandEnvelope, CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { describeTask } from '../obstacles.ts';
import { isExpected } from '../state.ts';
import type { TaskRecord, TeamState } from '../state.ts';
import { requireMember } from '../view.ts';
import { freeFiles } from './files.ts';
import { requireOpenTeam, writable } from './guard.ts';
import { requireSubmitted, sendBackWork, withdrawWork } from './landing.ts';
import { mustExpire, tellExpired } from './lease.ts';
import { askAboutGate, askAboutRejections } from './request.ts';

/* How a task leaves its holder, or comes back to it. */

export function releaseTask(state: TeamState, command: CommandOf<'task.release'>): TeamEvent[] {
  const task = writable(state, command, 'release');
  if (command.expired && !mustExpire(task, command)) return [];
  if (task.status !== 'in_progress') {
    throw new TeamError('conflict', `Cannot release ${describeTask(state, task.id)}: nobody holds it`);
  }
  return [
    ...withdrawWork(command, task, 'the task was released'),
    ...giveBack(state, command, task, command.reason),
    ...(command.expired ? tellExpired(command, task) : []),
  ];
}

/** Its holder may have stopped since it handed in its work. Reserved for an absent member, it could never be claimed. */
export function giveBack(
  state: TeamState,
  command: CommandEnvelope,
  task: TaskRecord,
  reason: string | undefined,
): TeamEvent[] {
  const { id: taskId, reserved } = task;
  const memberId = task.assigneeId as string;
  const epoch = task.epoch + 1;
  const isStranded = reserved && !isExpected(requireMember(state, memberId));
  return [
    event(command, 'task:released', { taskId, memberId, epoch, reason }),
    ...(isStranded ? [event(command, 'task:assigned', { taskId, assigneeId: null, epoch })] : []),
    ...freeFiles(state, command, [task]),
  ];
}

/** The task stays with its holder, which does it again; after several rejections a person has to look at it. */
export function rejectTask(state: TeamState, command: CommandOf<'task.reject'>): TeamEvent[] {
  requireOpenTeam(state);
  const { by, taskId } = command;
  if (by !== SYSTEM && by !== USER) {
    throw new TeamError('not_allowed', `${by} may not send back task ${taskId}: only a gate or a person may`);
  }
  const task = writable(state, command, 'send back');
  if (task.status !== 'in_progress') {
    throw new TeamError('conflict', `Cannot send back ${describeTask(state, task.id)}: nobody works on it`);
  }
  if (command.commit !== undefined) requireSubmitted(task, command.commit);
  // The member can neither fix the gate nor convince its model by trying again.
  if (command.unable || command.refused) {
    return [...withdrawWork(command, task, command.feedback), ...askAboutGate(state, command, task)];
  }
  const sentBack = sendBackTask(state, command, task);
  return command.work || isLeft(task) ? sentBack : [...sentBack, ...askAboutRejections(state, command, task)];
}

/** The holder does it again, or anybody if the holder has stopped since. */
export function sendBackTask(state: TeamState, command: CommandOf<'task.reject'>, task: TaskRecord): TeamEvent[] {
  const { feedback, gate, work } = command;
  const about = { taskId: task.id, memberId: task.assigneeId, feedback };
  const refused = work
    ? sendBackWork(state, command, task, work)
    : [event(command, 'task:rejected', { ...about, ...(gate !== undefined && { gate }) })];
  if (!isLeft(task)) return refused;
  return [...refused, ...giveBack(state, command, task, 'its work was sent back after its holder had stopped')];
}

function isLeft({ work, epoch }: TaskRecord): boolean {
  return work?.left === true && work.epoch === epoch;
}

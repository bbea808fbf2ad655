import { SYSTEM } from '../actor.ts';
import { showAmount } from '../budget-words.ts';
import type { CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { isLeaseOver } from '../lease.ts';
import type { MemberRecord, TaskRecord, TeamState } from '../state.ts';
import { quote } from '../text.ts';
import { requireTask } from '../view.ts';
import { requireActor, requireFresh, requireOpenTeam, requireSelf } from './guard.ts';

/* Leases: a claim of a member that Troupe does not run ends if nothing is heard of the member for too long. */

/** Troupe sees when a member that it runs ends, and decides about its tasks then. */
export function requireOutsider({ id, agent }: MemberRecord): void {
  if (agent === undefined) return;
  throw new TeamError(
    'invalid',
    `${id} cannot have a lease: Troupe runs it and sees when it ends; a lease is for people and clients of their own`,
  );
}

/** Any call of the holder renews its leases. A task that it does not hold with a lease stays as it is. */
export function renewTask(state: TeamState, command: CommandOf<'task.renew'>): TeamEvent[] {
  requireOpenTeam(state);
  requireActor(state, command.by);
  const task = requireTask(state, command.taskId);
  requireFresh(task, command);
  if (task.status !== 'in_progress' || task.lease === undefined) return [];
  const memberId = task.assigneeId as string;
  requireSelf(command.by, memberId, 'renew the lease of');
  return [event(command, 'task:renewed', { taskId: task.id, memberId })];
}

/** Whether a release that says that the lease is over counts. It does not if the holder was heard in between. */
export function mustExpire(task: TaskRecord, { by, at }: CommandOf<'task.release'>): boolean {
  if (by !== SYSTEM) throw new TeamError('not_allowed', `${by} may not end the lease of task ${task.id}`);
  return isLeaseOver(task, at);
}

/** Tells the holder in the same step: it would go on with a task that another member may have by now. */
export function tellExpired(command: CommandOf<'task.release'>, task: TaskRecord): TeamEvent[] {
  // A member that stops gives its tasks back, so the holder is there; and a lease that is over was given.
  const [holderId, lease] = [task.assigneeId as string, task.lease as number];
  const content =
    `Your claim of task #${task.id} (${quote(task.title)}) is over: nothing was heard of you for ` +
    `${showAmount('minutes', lease / 60_000)}, so the task is free again. Claim it again if you go on with it.`;
  return [
    event(command, 'message:sent', {
      copies: [{ id: `lease-${task.id}-${task.epoch}/${holderId}`, toId: holderId }],
      messageType: 'system',
      content,
      priority: 'normal',
      metadata: { taskId: task.id },
    }),
  ];
}

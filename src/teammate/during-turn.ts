import type { Agent, TaskJson } from '../agents/agent.ts';
import type { TeamEvent } from '../core/event.ts';

/** Whether a message came that should join the member's running turn. */
export function joinsTurn(event: TeamEvent, memberId: string, { takesAllMail }: Pick<Agent, 'takesAllMail'>): boolean {
  if (event.type !== 'message:sent' || !(takesAllMail || event.priority === 'urgent')) return false;
  return event.copies.some(({ toId }) => toId === memberId);
}

/** Whether the task changed hands or is gone, so that further work is useless. */
export function takesAway(event: TeamEvent, task: TaskJson): boolean {
  if (event.type === 'team:closed') return true;
  if (!('taskId' in event) || event.taskId !== task.id) return false;
  return 'epoch' in event && event.epoch > task.epoch;
}

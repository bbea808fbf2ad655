import type { Batch } from '../../src/client/replica.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import type { TeamRequest } from '../../src/core/request.ts';
import type { SharedTask } from '../../src/core/task.ts';

/** An event, and the batch that it came in. */
export interface Past {
  readonly seq: number;
  readonly event: TeamEvent;
}

/** All that happened to a task: what names it, and the plans that its holder handed in meanwhile, which name only the member. */
export function pastOf(history: readonly Batch[], taskId: string): Past[] {
  let holder: string | undefined;
  const isOfTask = (event: TeamEvent): boolean => {
    if (!('taskId' in event) || event.taskId !== taskId) {
      return event.type.startsWith('plan:') && 'memberId' in event && event.memberId === holder;
    }
    if (event.type === 'task:claimed') holder = event.memberId;
    else if (ENDINGS.includes(event.type)) holder = undefined;
    return event.type !== 'usage:recorded';
  };
  return history.flatMap(({ seq, events }) => events.filter(isOfTask).map((event) => ({ seq, event })));
}

const ENDINGS: readonly TeamEvent['type'][] = ['task:released', 'task:completed', 'task:failed', 'task:deleted'];

/** How long a task was worked on, in milliseconds: since its claim, without the time in which a person was asked. */
export function workedOn(
  task: Pick<SharedTask, 'id' | 'assigneeId' | 'startedAt' | 'completedAt'>,
  requests: Iterable<Pick<TeamRequest, 'kind' | 'memberId' | 'taskId' | 'requestedAt' | 'answeredAt'>>,
  now: number,
): number {
  const start = task.startedAt?.getTime() ?? now;
  const end = task.completedAt?.getTime() ?? now;
  const waits = [...requests]
    .filter(({ kind, memberId, taskId }) =>
      kind === 'plan' ? memberId === task.assigneeId : kind !== 'shutdown' && taskId === task.id,
    )
    .map(({ requestedAt, answeredAt }) => [requestedAt.getTime(), answeredAt?.getTime() ?? end] as const)
    .sort(([a], [b]) => a - b);
  let worked = 0;
  let from = start;
  for (const [asked, answered] of waits) {
    worked += Math.max(0, Math.min(asked, end) - from);
    from = Math.min(end, Math.max(from, answered));
  }
  return worked + Math.max(0, end - from);
}

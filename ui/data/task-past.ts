import { nounOf, taskLetGo } from '../../src/client/replica.ts';
import type { Batch } from '../../src/client/replica.ts';
import type { TeamEvent } from '../../src/core/event.ts';

/** An event and the number of its batch. */
export interface Past {
  readonly seq: number;
  readonly event: TeamEvent;
}

/** All events of a task: those that name it, and the plans of its holder meanwhile, which name only the member. */
export function pastOf(history: readonly Batch[], taskId: string): Past[] {
  let holder: string | undefined;
  const isOfTask = (event: TeamEvent): boolean => {
    if (!('taskId' in event) || event.taskId !== taskId) {
      return nounOf(event) === 'plan' && 'memberId' in event && event.memberId === holder;
    }
    if (event.type === 'task:claimed') holder = event.memberId;
    else if (taskLetGo(event)) holder = undefined;
    return event.type !== 'usage:recorded';
  };
  return history.flatMap(({ seq, events }) => events.filter(isOfTask).map((event) => ({ seq, event })));
}

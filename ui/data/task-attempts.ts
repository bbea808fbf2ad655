import { addUsage, NO_USAGE } from '../../src/client/replica.ts';
import type { Batch } from '../../src/client/replica.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import type { Usage } from '../../src/core/usage.ts';

/** One claim of a task: who worked on it, from when to when, how it ended, and what it used. */
export interface Attempt {
  readonly number: number;
  readonly memberId: string;
  readonly epoch: number;
  readonly since: number;
  /** Unset while it goes on. */
  readonly until?: number;
  readonly outcome: 'open' | 'completed' | 'failed' | 'released';
  /** What was said at its end: the result, or why it failed or was given back. */
  readonly words: string;
  /** How often a gate or a person sent the work back meanwhile. */
  readonly rejections: number;
  /** Whether a program did, so that there is an output of it. */
  readonly isByGate: boolean;
  readonly usage: Usage;
}

/** The attempts at a task, oldest first. */
export function attemptsOf(history: readonly Batch[], taskId: string): readonly Attempt[] {
  const attempts: Attempt[] = [];
  const change = (facts: Partial<Attempt>): void => {
    const last = attempts.at(-1);
    if (last?.outcome === 'open') attempts[attempts.length - 1] = { ...last, ...facts };
  };
  for (const { events } of history) {
    for (const event of events) if ('taskId' in event && event.taskId === taskId) note(event, attempts, change);
  }
  return attempts;
}

function note(event: TeamEvent, attempts: Attempt[], change: (facts: Partial<Attempt>) => void): void {
  const { at } = event;
  const last = attempts.at(-1);
  const end = (outcome: Attempt['outcome'], words = ''): void => change({ outcome, until: at, words });
  switch (event.type) {
    case 'task:claimed':
      end('released');
      attempts.push({
        number: attempts.length + 1,
        memberId: event.memberId,
        epoch: event.epoch,
        since: at,
        outcome: 'open',
        words: '',
        rejections: 0,
        isByGate: false,
        usage: NO_USAGE,
      });
      break;
    case 'task:assigned':
      // A new epoch: it was taken from its holder.
      if (last && event.epoch > last.epoch) end('released', 'it was given to somebody else');
      break;
    case 'task:released':
      end('released', event.reason);
      break;
    case 'task:rejected':
      change({
        rejections: (last?.rejections ?? 0) + 1,
        isByGate: last?.isByGate === true || event.gate !== undefined,
      });
      break;
    case 'task:completed':
      end('completed', event.result);
      break;
    case 'task:failed':
      end('failed', event.reason);
      break;
    case 'task:reopened':
    case 'task:deleted':
      end('released');
      break;
    case 'usage:recorded':
      // The usage of the last turn may come after the end of the task.
      if (last && event.memberId === last.memberId) {
        attempts[attempts.length - 1] = { ...last, usage: addUsage(last.usage, event.usage) };
      }
      break;
    default:
  }
}

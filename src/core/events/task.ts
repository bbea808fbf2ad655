import type { EventOf } from '../event.ts';
import { everybody, nobody } from './row.ts';
import type { TaskEventRow, TaskEventType } from './row.ts';

/** The rows of events about tasks. */
export const TASK_EVENTS: { readonly [T in TaskEventType]: TaskEventRow<T> } = {
  'task:created': {
    wakes: everybody,
    told: 'task:created',
    letsGo: false,
    mark: 'state',
    words: ({ by, taskId, title }) => ({ actor: by, text: `added task #${taskId}`, reason: title }),
  },
  'task:updated': {
    wakes: everybody,
    told: 'task:updated',
    letsGo: false,
    mark: null,
    words: ({ by, taskId, unjudged, withheld }, task) => {
      if (unjudged === false) return { actor: by, text: `let ${task(taskId)} pass` };
      if (withheld === null) return { actor: by, text: `made ${task(taskId)} free again` };
      if (withheld !== undefined) return { actor: by, text: `withholds ${task(taskId)}`, reason: withheld };
      return { actor: by, text: `changed ${task(taskId)}` };
    },
  },
  'task:assigned': {
    wakes: everybody,
    told: 'task:updated',
    letsGo: true,
    mark: 'claim',
    words: ({ by, taskId, assigneeId }, task) => ({
      actor: by,
      text:
        assigneeId === null ? `made ${task(taskId)} free for anybody` : `reserved ${task(taskId)} for ${assigneeId}`,
    }),
  },
  'task:claimed': {
    wakes: nobody,
    told: 'task:claimed',
    letsGo: false,
    mark: 'claim',
    words: ({ memberId, taskId }, task) => ({
      actor: memberId,
      text: `claimed ${task(taskId)}`,
      tone: 'notable',
    }),
  },
  'task:renewed': {
    wakes: nobody,
    told: 'task:updated',
    letsGo: false,
    mark: null,
    words: ({ memberId, taskId }, task) => ({ actor: memberId, text: `still works on ${task(taskId)}` }),
  },
  'task:released': {
    wakes: everybody,
    told: 'task:released',
    letsGo: true,
    mark: 'claim',
    words: ({ memberId, taskId, reason }, task) => ({
      actor: memberId,
      text: `gave ${task(taskId)} back`,
      reason,
    }),
  },
  'task:rejected': {
    wakes: nobody,
    told: 'task:updated',
    letsGo: false,
    mark: 'gate',
    words: (event, task) => ({
      actor: judgeOf(event),
      text: `sent ${task(event.taskId)} back`,
      content: event.feedback,
      tone: 'notable',
    }),
  },
  'task:completed': {
    wakes: nobody,
    told: 'task:completed',
    letsGo: true,
    mark: 'done',
    words: ({ by, memberId = by, taskId, result }, task) => ({
      actor: memberId,
      text: `completed ${task(taskId)}`,
      content: result,
      tone: 'good',
    }),
  },
  'task:failed': {
    wakes: nobody,
    told: 'task:failed',
    letsGo: true,
    mark: 'fail',
    words: ({ by, taskId, reason }, task) => ({ actor: by, text: `failed ${task(taskId)}`, reason, tone: 'bad' }),
  },
  'task:reopened': {
    wakes: everybody,
    told: 'task:updated',
    letsGo: true,
    mark: 'state',
    words: ({ by, taskId, reason }, task) => ({ actor: by, text: `reopened ${task(taskId)}`, reason }),
  },
  'task:deleted': {
    wakes: everybody,
    told: 'task:updated',
    letsGo: true,
    mark: 'state',
    words: ({ by, taskId }, task) => ({ actor: by, text: `deleted ${task(taskId)}` }),
  },
  'task:unblocked': {
    wakes: everybody,
    told: 'task:unblocked',
    letsGo: false,
    mark: 'state',
    words: ({ taskId }, task) => ({ actor: task(taskId), text: 'is now ready', tone: 'notable' }),
  },
  'task:dependencies-added': {
    wakes: nobody,
    told: 'task:updated',
    letsGo: false,
    mark: null,
    words: ({ by, taskId, dependencies }, task) => ({
      actor: by,
      text: `made ${task(taskId)} wait for ${list(dependencies)}`,
    }),
  },
  'task:dependencies-removed': {
    wakes: nobody,
    told: 'task:updated',
    letsGo: false,
    mark: null,
    words: ({ by, taskId, dependencies }, task) => ({
      actor: by,
      text: `let ${task(taskId)} no longer wait for ${list(dependencies)}`,
    }),
  },
};

/** Who sent work back: a person under their own name, a gate under the daemon's. */
function judgeOf({ by, gate }: EventOf<'task:rejected'>): string {
  if (gate !== undefined) return `the gate ${gate}`;
  return by === '@system' ? 'a gate' : by;
}

function list(ids: readonly string[]): string {
  return ids.map((id) => `#${id}`).join(', ');
}

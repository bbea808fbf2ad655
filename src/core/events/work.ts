import { shortId } from '../commit-id.ts';
import type { EventType } from '../event.ts';
import { nobody } from './row.ts';
import type { EventRow } from './row.ts';

/** The rows of events about work. */
export const WORK_EVENTS: { readonly [T in Extract<EventType, `work:${string}` | `landing:${string}`>]: EventRow<T> } =
  {
    'work:begun': {
      wakes: nobody,
      mark: null,
      words: ({ memberId, taskId, base }, task) => ({
        actor: memberId,
        text: `begins ${task(taskId)} from ${shortId(base)}`,
        tone: 'quiet',
      }),
    },
    'work:submitted': {
      wakes: nobody,
      mark: null,
      words: ({ memberId, taskId, files, added, removed }, task) => ({
        actor: memberId,
        text:
          files === 0
            ? `changed nothing for ${task(taskId)}`
            : `handed in ${files === 1 ? '1 file' : `${files} files`} (+${added} -${removed}) for ${task(taskId)}`,
        tone: 'quiet',
      }),
    },
    'work:left': {
      wakes: nobody,
      mark: null,
      words: ({ taskId }, task) => ({ actor: task(taskId), text: 'stays in the merge queue without its holder' }),
    },
    'work:withdrawn': {
      wakes: nobody,
      mark: null,
      words: ({ taskId, why }, task) => ({ actor: task(taskId), text: 'left the merge queue', reason: why }),
    },
    'work:asked': {
      wakes: nobody,
      mark: 'gate',
      words: ({ taskId }, task) => ({
        actor: task(taskId),
        text: 'is accepted by the gates, and waits for its approval',
      }),
    },
    'work:approved': {
      wakes: nobody,
      mark: null,
      words: ({ taskId }, task) => ({
        actor: task(taskId),
        text: 'is approved, and takes its place in the merge queue',
      }),
    },
    'landing:begun': {
      wakes: nobody,
      mark: 'gate',
      words: ({ works, onto }, task) => ({
        actor: 'the merge queue',
        text: `lands ${works.map(({ taskId }) => task(taskId)).join(', ')} onto ${shortId(onto)}`,
        tone: 'quiet',
      }),
    },
    'landing:ended': {
      wakes: nobody,
      mark: null,
      words: ({ how, why }) => ({ actor: 'the merge queue', text: LANDING_ENDS[how], reason: why }),
    },
    'work:landed': {
      wakes: nobody,
      mark: 'done',
      words: ({ taskId, merged }, task) => ({
        actor: task(taskId),
        text: `landed as ${shortId(merged)}`,
        tone: 'good',
      }),
    },
    'work:conflicted': {
      wakes: nobody,
      mark: 'fail',
      words: ({ taskId, files, feedback }, task) => ({
        actor: task(taskId),
        text: `conflicts with work that landed before${feedback === undefined ? '' : ', and goes back to its holder'}`,
        reason: files.join(', '),
        tone: 'bad',
      }),
    },
    'work:overlapped': {
      wakes: nobody,
      mark: 'state',
      words: ({ sides: [one, other], files, paths, conflicts }, task) => {
        const rest = files - paths.length;
        const which = [...paths, ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ');
        const both = `and ${other.memberId} (${task(other.taskId)})`;
        if (files === 0) return { actor: one.memberId, text: `${both} no longer change the same files`, tone: 'quiet' };
        const how = conflicts.length === 0 ? '' : `; ${conflicts.join(', ')} would conflict`;
        return {
          actor: one.memberId,
          text: `(${task(one.taskId)}) ${both} change the same ${files === 1 ? 'file' : 'files'}${how}`,
          reason: which,
          tone: conflicts.length === 0 ? 'notable' : 'bad',
        };
      },
    },
    'work:lost': {
      wakes: nobody,
      mark: 'fail',
      words: ({ to, works, why }, task) => ({
        actor: 'the branch',
        text: `went back to ${shortId(to)} and lost ${works.map(({ taskId }) => task(taskId)).join(', ')}`,
        reason: why,
        tone: 'bad',
      }),
    },
    'work:kept': {
      wakes: nobody,
      mark: null,
      words: ({ memberId, taskId, commit, why }, task) => ({
        actor: memberId,
        text:
          taskId === undefined
            ? `left work that is not on the branch; ${shortId(commit)} keeps it`
            : `puts its work for ${task(taskId)} aside; ${shortId(commit)} keeps it`,
        reason: why,
        tone: 'notable',
      }),
    },
  };

const LANDING_ENDS = {
  red: 'sends the work back',
  split: 'halves the landing',
  dropped: 'begins the landing again',
} as const;

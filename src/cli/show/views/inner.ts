import { clean } from '../text.ts';
import { taskName } from '../words.ts';
import type { Views } from './views.ts';

/** What the process of a member that is a team asks; people see it when they try it. */
export const views: Views = {
  'inner.begin': ({ teamId }) => `Team ${clean(teamId)} works on it.\n`,
  'inner.follow': ({ teamId, state, waiting, lines, text }) => {
    const now = waiting === undefined ? state : `${state}, ${waiting}`;
    return [...lines, `Team ${teamId}: ${now}`, ...(text === undefined ? [] : [text])]
      .map((line) => `${clean(line)}\n`)
      .join('');
  },
  'inner.tell': ({ taskId }) => `The team of ${taskName(taskId)} has it.\n`,
  'inner.rest': ({ taskId }) => `The team of ${taskName(taskId)} rests.\n`,
};

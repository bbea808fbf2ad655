import { putTeam } from '../tables.ts';
import type { TaskWork } from '../work.ts';
import { changeTask } from './apply.ts';
import type { ApplyTo } from './apply.ts';

export const WORK_FACTS: ApplyTo<'work'> = {
  'work:begun': (state, { at, taskId, memberId, epoch, base }) =>
    changeTask(state, taskId, at, (task) => ({ ...task, work: { memberId, epoch, base, state: 'begun' } })),

  'work:submitted': (state, { at, taskId, memberId, epoch, base, commit, files, added, removed, paths }) =>
    changeTask(state, taskId, at, (task) => {
      const how: TaskWork['state'] = files === 0 ? 'unchanged' : 'begun';
      return { ...task, work: { memberId, epoch, base, state: how, commit, files, added, removed, paths } };
    }),

  'work:landed': (state, { at, taskId, onto, merged }) => {
    changeTask(state, taskId, at, (task) => ({
      ...task,
      work: task.work && { ...task.work, state: 'landed', onto, merged },
    }));
    const { team } = state;
    if (team?.work) putTeam(state, { ...team, work: { ...team.work, tip: merged } });
  },

  'work:conflicted': (state, { at, taskId, onto, files }) =>
    changeTask(state, taskId, at, (task) => ({
      ...task,
      work: task.work && { ...task.work, state: 'conflicted', onto, conflicts: files },
    })),

  // The repository's refs keep it; the event says when and why.
  'work:kept': () => {},
};

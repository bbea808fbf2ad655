import type { TaskRecord } from '../state.ts';
import { putTeam } from '../tables.ts';
import type { TaskWork } from '../work.ts';
import { changeTask } from './apply.ts';
import type { ApplyTo } from './apply.ts';
import { applyLost } from './lost.ts';
import { applyOverlap } from './overlap.ts';

export const WORK_FACTS: ApplyTo<'work'> = {
  'work:begun': (state, { at, taskId, memberId, epoch, base }) =>
    changeTask(state, taskId, at, (task) => ({
      ...task,
      work: { memberId, epoch, base, state: 'begun', ...timesSentBack(task, epoch) },
    })),

  'work:submitted': (state, { at, taskId, memberId, epoch, base, commit, files, added, removed, paths }) =>
    changeTask(state, taskId, at, (task) => {
      const how: TaskWork['state'] = files === 0 ? 'unchanged' : 'begun';
      const size = { files, added, removed, paths };
      return { ...task, work: { memberId, epoch, base, state: how, commit, ...size, ...timesSentBack(task, epoch) } };
    }),

  'work:landed': (state, { at, taskId, onto, merged }) => {
    changeTask(state, taskId, at, (task) => ({
      ...task,
      work: task.work && { ...task.work, state: 'landed', onto, merged },
    }));
    const { team } = state;
    if (team?.work) putTeam(state, { ...team, work: { ...team.work, tip: merged } });
  },

  'work:conflicted': (state, { at, taskId, onto, files, feedback }) =>
    changeTask(state, taskId, at, (task) => {
      const work = task.work && { ...task.work, state: 'conflicted' as const, onto, conflicts: files };
      if (!work || feedback === undefined) return { ...task, work };
      return { ...task, feedback, work: { ...work, sentBack: (work.sentBack ?? 0) + 1 } };
    }),

  // The repository's refs keep it; the event says when and why.
  'work:kept': () => {},

  'work:lost': applyLost,

  'work:overlapped': applyOverlap,
};

/** Another holder begins to count again. */
function timesSentBack({ work }: TaskRecord, epoch: number): Pick<TaskWork, 'sentBack'> {
  return work?.epoch === epoch && work.sentBack !== undefined ? { sentBack: work.sentBack } : {};
}

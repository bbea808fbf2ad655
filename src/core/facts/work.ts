import { isHandedIn } from '../approval.ts';
import { countConflicts } from '../conflicts.ts';
import { isInFolderOf } from '../folder.ts';
import type { TaskRecord, TeamState } from '../state.ts';
import { putTeam } from '../tables.ts';
import type { StandingWork, TaskWork } from '../work.ts';
import { changeTask, isAboutApproval, withdrawRequests } from './apply.ts';
import type { ApplyTo } from './apply.ts';
import { applyOverlap } from './overlap.ts';

export const WORK_FACTS: ApplyTo<'work' | 'landing' | 'tip'> = {
  'work:begun': (state, { at, taskId, memberId, epoch, base }) => {
    changeTask(state, taskId, at, (task) => ({
      ...task,
      work: { memberId, epoch, base, state: 'begun', ...knownOf(task, epoch) },
    }));
    // Its holder goes on with what it had handed in.
    leaveQueue(state, taskId);
  },

  'work:submitted': (
    state,
    { at, by, taskId, memberId, epoch, base, commit, files, added, removed, paths, result, refused },
  ) => {
    changeTask(state, taskId, at, (task) => {
      const size = { files, added, removed, paths };
      const { aside } = task.work?.epoch === epoch ? task.work : {};
      const known = { ...knownOf(task, epoch), ...(aside !== undefined && { aside }) };
      const work: TaskWork = { memberId, epoch, base, state: 'unchanged', commit, ...size, ...known };
      if (files === 0) return { ...task, work };
      const { queuedAt = at } = work;
      return {
        ...task,
        work: {
          ...work,
          state: 'submitted',
          queuedAt,
          completer: by,
          ...(result !== undefined && { result }),
          ...(refused && { refused }),
        },
      };
    });
    if (files > 0) joinQueue(state, taskId);
    else leaveQueue(state, taskId);
  },

  'work:left': (state, { at, taskId }) =>
    changeTask(state, taskId, at, (task) => ({ ...task, work: task.work && { ...task.work, left: true } })),

  'work:withdrawn': (state, { at, taskId, why }) => {
    changeTask(state, taskId, at, (task) => ({
      ...task,
      work: task.work && { ...noLongerSubmitted(task.work), withdrawn: why },
    }));
    leaveQueue(state, taskId);
  },

  'work:asked': (state, { at, taskId, onto, merged, landingId, pack }) => {
    changeTask(state, taskId, at, (task) => ({
      ...task,
      work: task.work && { ...task.work, state: 'asked', onto, merged, judged: { landingId, ...(pack && { pack }) } },
    }));
    leaveQueue(state, taskId);
    // The gates accepted it: whatever ended before is no longer the last landing.
    changeWork(state, ({ landing: _landing, ended: _ended, ...work }) => work);
  },

  'work:approved': (state, { at, taskId, commit }) => {
    changeTask(state, taskId, at, (task) => ({
      ...task,
      work: task.work && { ...unjudged(task.work), state: 'submitted', approved: commit },
    }));
    joinQueue(state, taskId);
  },

  'work:landed': (state, { at, taskId, onto, merged, landingId }) => {
    changeTask(state, taskId, at, (task) => ({
      ...task,
      work: task.work && { ...settled(task.work), state: 'landed', onto, merged },
    }));
    leaveQueue(state, taskId);
    changeWork(state, ({ landing, ended: _ended, ...work }) => {
      const works = landing?.works.filter((one) => one.taskId !== taskId) ?? [];
      // The branch went on: whatever else was judged onto the tip before has to be merged again.
      const isOver = landing?.id !== landingId || works.length === 0;
      return { ...work, tip: merged, ...(landing && !isOver && { landing: { ...landing, works } }) };
    });
  },

  'work:conflicted': (state, { at, taskId, commit, onto, files, feedback }) => {
    changeTask(state, taskId, at, (task) => {
      const work = task.work && { ...settled(task.work), state: 'conflicted' as const, onto, conflicts: files };
      if (!work || feedback === undefined) return { ...task, work };
      return { ...task, feedback, work: { ...work, sentBack: countConflicts(work, commit), sentBackAs: commit } };
    });
    leaveQueue(state, taskId);
  },

  // The repository's refs keep it; the event says when and why. The folder has the work of another task now.
  'work:kept': (state, { at, taskId, memberId, commit }) => {
    const task = taskId === undefined ? undefined : state.tasks.get(taskId);
    if (!task || !isInFolderOf(task, memberId)) return;
    changeTask(state, task.id, at, (task) => ({ ...task, work: task.work && { ...task.work, aside: commit } }));
  },

  // The tasks stay completed: somebody did them, and a person decides what is done again.
  'work:lost': (state, { to, works }) => {
    const { team } = state;
    if (!team?.work) return;
    const lost = [...(team.work.lost ?? []), ...works];
    putTeam(state, { ...team, work: { ...team.work, tip: to, lost } });
  },

  'work:overlapped': applyOverlap,

  'landing:begun': (state, { at, landingId: id, hostId, onto, merged, works }) =>
    changeWork(state, (work) => ({
      ...work,
      landing: { id, hostId, onto, merged, works, since: at },
      queueHost: hostId,
    })),

  'landing:ended': (state, { at, landingId, how, why }) =>
    changeWork(state, (work) => {
      const { landing, ...rest } = work;
      if (landing?.id !== landingId) return work;
      return { ...rest, ended: { how, why, tasks: landing.works.map(({ taskId }) => taskId), at } };
    }),

  'tip:moved': (state, { to, rewritten, base }) => {
    const { team } = state;
    if (!team?.work) return;
    const work = { ...team.work, tip: to, ...(base !== undefined && { base }), ...(rewritten && { rewritten }) };
    putTeam(state, { ...team, work });
  },

  // A ref keeps the commit; the event says when.
  'tip:refused': () => {},
};

/** A gate or a person sent the work back: it is the holder's again. */
export function takeBack(state: TeamState, taskId: string, at: number): void {
  if (!isHandedIn(state.tasks.get(taskId)?.work)) return;
  changeTask(state, taskId, at, (task) => ({ ...task, work: task.work && noLongerSubmitted(task.work) }));
  leaveQueue(state, taskId);
}

function changeWork(state: TeamState, change: (work: StandingWork) => StandingWork): void {
  const { team } = state;
  if (team?.work) putTeam(state, { ...team, work: change(team.work) });
}

/** In the order of first submissions. Work that was sent back keeps its place. */
function joinQueue(state: TeamState, taskId: string): void {
  withdrawQuestions(state, taskId);
  const since = (id: string): number => state.tasks.get(id)?.work?.queuedAt ?? 0;
  changeWork(state, ({ queue = [], ...work }) => {
    const others = queue.filter((id) => id !== taskId);
    const place = others.findIndex((id) => since(id) > since(taskId));
    return { ...work, queue: others.toSpliced(place === -1 ? others.length : place, 0, taskId) };
  });
}

function leaveQueue(state: TeamState, taskId: string): void {
  withdrawQuestions(state, taskId);
  if (!state.team?.work?.queue?.includes(taskId)) return;
  changeWork(state, ({ queue = [], ...work }) => ({ ...work, queue: queue.filter((id) => id !== taskId) }));
}

/** A question about work that is no longer handed in is obsolete. */
function withdrawQuestions(state: TeamState, taskId: string): void {
  withdrawRequests(state, ({ kind }) => isAboutApproval(kind), taskId);
}

/** Without what matters only while work waits. */
function settled({ completer: _completer, result: _result, refused: _refused, ...work }: TaskWork): TaskWork {
  return unjudged(work);
}

function unjudged({ onto: _onto, merged: _merged, judged: _judged, ...work }: TaskWork): TaskWork {
  return work;
}

function noLongerSubmitted(work: TaskWork): TaskWork {
  return { ...settled(work), state: 'begun' };
}

/** Another holder starts counting at zero, and goes to the end of the queue. */
function knownOf({ work }: TaskRecord, epoch: number): Pick<TaskWork, 'sentBack' | 'sentBackAs' | 'queuedAt'> {
  if (work?.epoch !== epoch) return {};
  const { sentBack, sentBackAs, queuedAt } = work;
  return {
    ...(sentBack !== undefined && { sentBack }),
    ...(sentBackAs !== undefined && { sentBackAs }),
    ...(queuedAt !== undefined && { queuedAt }),
  };
}

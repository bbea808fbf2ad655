import type { TeamState } from '../../src/client/replica.ts';
import type { TaskWork } from '../../src/core/work.ts';
import type { AskedFiles } from '../data/diff-store.ts';

/** What a page compares, in words and for the daemon. */
export interface Subject {
  readonly title: string;
  /** What of it is shown. */
  readonly what: string;
  /** Undefined if there is nothing to compare; `what` says why. */
  readonly asked: AskedFiles | undefined;
  /** Another key means that there is something newer to show. */
  readonly key: string;
  /** Of a task: the work that was handed in, if just that is shown. */
  readonly commit?: string | undefined;
}

/** Whether a text names a task; otherwise it names a member. The daemon decides it in the same way. */
export function isTask(of: string): boolean {
  return /^\d+$/.test(of);
}

/** What to compare for a task, a member or the branch. `at`: the time of the moment that is shown, if it is past. */
export function subjectOf(state: TeamState, of: string | undefined, at: number | undefined): Subject {
  const work = state.team?.work;
  if (!work) {
    const what = 'The members of this team share a folder. Only members with workspaces of their own have differences.';
    return { title: of ?? 'Branch', what, asked: undefined, key: '' };
  }
  if (of === undefined) {
    const isEmpty = work.base === work.tip;
    return {
      title: work.branch,
      what: isEmpty ? 'Nothing has landed yet.' : 'All that has landed',
      asked: isEmpty ? undefined : at === undefined ? {} : { from: work.base, to: work.tip },
      key: work.tip,
    };
  }
  if (isTask(of)) return ofTask(state, of, at);
  const isApart = state.members.get(of)?.workspace === 'own';
  return {
    title: of,
    what: isApart
      ? at === undefined
        ? 'What it has not handed in'
        : 'Its last save'
      : `${of} has no workspace of its own.`,
    asked: isApart ? { of, ...(at !== undefined && { before: at }) } : undefined,
    key: `${at}`,
  };
}

function ofTask(state: TeamState, id: string, at: number | undefined): Subject {
  const task = state.tasks.get(id);
  const title = `#${id}${task ? ` ${task.title}` : ''}`;
  const work = task?.work;
  if (!work) return { title, what: 'Nobody has worked on it in a workspace yet.', asked: undefined, key: '' };
  const key = JSON.stringify([work.state, work.commit, work.merged, work.base]);
  const { base, commit, onto, merged, memberId } = work;
  // An answer is about this commit, whatever is handed in while the page reads it.
  if (work.state === 'asked' && commit !== undefined) {
    return { title, what: wordWork(work), asked: { from: base, to: commit }, key, commit };
  }
  if (at === undefined) return { title, what: wordWork(work), asked: { of: id }, key };
  const sides =
    onto !== undefined && merged !== undefined
      ? { from: onto, to: merged }
      : commit === undefined
        ? { of: memberId, before: at }
        : { from: base, to: commit };
  return { title, what: wordWork(work), asked: sides, key };
}

function wordWork({ state, memberId, commit }: TaskWork): string {
  if (state === 'landed') return 'As it landed on the branch';
  if (state === 'conflicted') return 'As it was handed in; it conflicts with the branch';
  if (state === 'unchanged') return `${memberId} changed nothing`;
  if (state === 'asked') return 'As it was handed in; it waits for its approval';
  return commit === undefined ? `What ${memberId} has changed so far` : 'As it was handed in';
}

import { SYSTEM } from '../../core/actor.ts';
import type { Actor } from '../../core/actor.ts';
import type { TeamState } from '../../core/state.ts';
import type { SubmitWorkInput } from '../../core/work.ts';

/** A work in the merge queue. */
export interface QueuedWork extends Omit<SubmitWorkInput, 'pack' | 'result'> {
  readonly result: string | undefined;
  /** Who completes the task. */
  readonly completer: Actor;
  /** Its holder has stopped since. */
  readonly left: boolean;
}

/** The works that wait to land, in their order. */
export function queueOf({ team, tasks }: TeamState): QueuedWork[] {
  return (team?.work?.queue ?? []).flatMap((taskId) => {
    const { work } = tasks.get(taskId) ?? {};
    if (work?.state !== 'submitted') return [];
    const { memberId, epoch, base, commit = '', files = 0, added = 0, removed = 0, paths = [] } = work;
    const { completer = SYSTEM, result, left = false } = work;
    return { taskId, memberId, epoch, base, commit, files, added, removed, paths, result, completer, left };
  });
}

/** Names a work as it was handed in: a verdict about it does not hold for another. */
export function nameOfWork({ taskId, epoch, commit }: Pick<QueuedWork, 'taskId' | 'epoch' | 'commit'>): string {
  return `${taskId}/${epoch}/${commit}`;
}

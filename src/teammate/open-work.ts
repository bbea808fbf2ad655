import type { TaskJson } from '../agents/agent.ts';
import type { ResultOf } from '../operations/index.ts';
import type { Bench } from './bench.ts';
import { codeOf } from './door.ts';
import type { Door } from './door.ts';
import { isOver } from './over.ts';
import { pauseBeforeRetry, pauseOf } from './patience.ts';

/**
 * Opens the member's own workspace before its agent starts. Until that works, the member waits, and the daemon says what
 * for: it must not work in the user's folder instead.
 */
export async function openWork(
  door: Door,
  who: Bench['who'],
  { signal, onError }: { signal: AbortSignal; onError: (error: unknown) => void },
): Promise<NonNullable<ResultOf<'work.open'>> | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await door.call('work.open', who)) ?? undefined;
    } catch (error) {
      if (signal.aborted || isOver(error) || codeOf(error) === 'unauthenticated') throw error;
      if (attempt === 1) onError(error);
      await pauseBeforeRetry(attempt, signal);
      signal.throwIfAborted();
    }
  }
}

/**
 * Brings the workspace to the team's branch, for a task that was just claimed. While that cannot be, as when a file is in
 * the way, the member waits: the task must not fail for it. False if it must stop or lost the task meanwhile.
 */
export async function beginWork(bench: Bench, task: TaskJson): Promise<boolean> {
  const { door, who, worksApart, onError } = bench;
  if (!worksApart) return true;
  for (let attempt = 1; ; attempt++) {
    try {
      await door.call('work.begin', { ...who, taskId: task.id, epoch: task.epoch });
      return true;
    } catch (error) {
      // It lost the task at the same moment; the turn will not begin.
      if (['stale_epoch', 'not_found'].includes(codeOf(error) ?? '')) return true;
      if (isOver(error) || !TROUBLE.includes(codeOf(error) ?? '')) throw error;
      if (attempt === 1) onError(error);
      if (!(await bench.pause(pauseOf(attempt), task))) return false;
    }
  }
}

/** What may be wrong with a workspace, and what a person can mend. Full disks are waited for by the door. */
const TROUBLE: readonly string[] = ['conflict', 'corrupt', 'unsupported'];

/** Saves the workspace. A save that fails is made up for by the next one. During a turn, its files stay as they are. */
export async function saveWork(
  { door, who, worksApart, onError }: Pick<Bench, 'door' | 'who' | 'worksApart' | 'onError'>,
  { inTurn = false } = {},
): Promise<void> {
  if (!worksApart) return;
  await door.call('work.save', { ...who, inTurn }).catch(onError);
}

/**
 * Whether a turn may begin in the workspace. While the folder has settings that its agent would obey and nobody agreed
 * to, the member waits, and the daemon says why. False if it must stop or lost the task.
 */
export async function mayWorkHere(
  { door, who, worksApart, pause }: Pick<Bench, 'door' | 'who' | 'worksApart' | 'pause'>,
  task?: TaskJson,
): Promise<boolean> {
  if (!worksApart) return true;
  for (;;) {
    try {
      await door.call('work.open', who);
      return true;
    } catch (error) {
      // Whatever else is wrong shows when the folder is saved.
      if (codeOf(error) !== 'conflict') return true;
      if (!(await pause(LOOK_AGAIN_MS, task))) return false;
    }
  }
}

/** A person has to look at the settings first, so there is no hurry. */
const LOOK_AGAIN_MS = 2_000;

import { whyNot } from '../../../src/client/replica.ts';
import type { TeamState } from '../../../src/client/replica.ts';
import { daemonNow } from '../../data/clock.ts';
import { call } from '../../data/daemon.ts';
import type { TaskView } from '../../data/task-view.ts';
import { plural } from '../../parts/format.ts';

/** What can be done to several tasks at once. */
export type Deed = 'assign' | 'release' | 'reopen' | 'delete';

/** What will happen to one task; `why` says that it is refused. */
export interface Step {
  readonly view: TaskView;
  readonly words: string;
  readonly why?: string;
}

/** What a deed will do to each task, according to the team's own rules, and which it refuses. */
export function planSteps(
  state: TeamState,
  views: readonly TaskView[],
  { deed, assigneeId }: { readonly deed: Deed; readonly assigneeId: string | null },
): Step[] {
  return views.map((view) => {
    const { id: taskId, epoch } = view.task;
    const at = { at: daemonNow(), by: '@user', taskId, epoch } as const;
    const why =
      deed === 'assign'
        ? view.task.assigneeId === (assigneeId ?? undefined)
          ? already(assigneeId)
          : whyNot(state, { type: 'task.assign', ...at, assigneeId })
        : whyNot(state, { type: `task.${deed}`, ...at });
    return { view, words: wordStep(view, deed, assigneeId), ...(why !== undefined && { why }) };
  });
}

function already(assigneeId: string | null): string {
  return assigneeId === null ? 'It is reserved for nobody' : `It is ${assigneeId}’s already`;
}

function wordStep({ task, phase }: TaskView, deed: Deed, assigneeId: string | null): string {
  switch (deed) {
    case 'assign':
      return assigneeId === null ? 'is free for everybody' : `is reserved for ${assigneeId}`;
    case 'release':
      return `is taken from ${task.assigneeId ?? 'its holder'} and pending again`;
    case 'reopen':
      return phase === 'failed' ? 'is tried again: it becomes pending' : 'is open again: it becomes pending';
    case 'delete': {
      const holder =
        phase === 'in_progress' || phase === 'gate' ? `, and ${task.assigneeId ?? 'its holder'} loses it` : '';
      const others = task.blocks.length > 0 ? `; ${plural(task.blocks.length, 'task')} no longer wait for it` : '';
      return `is deleted${holder}${others}`;
    }
  }
}

/** Does one step. The epoch makes the daemon refuse it if somebody else has the task by now. */
export async function doStep({ view: { task } }: Step, deed: Deed, assigneeId: string | null): Promise<void> {
  const on = { teamId: task.teamId, taskId: task.id, epoch: task.epoch };
  if (deed === 'assign') await call('task.assign', { ...on, assigneeId });
  else if (deed === 'release') await call('task.release', on);
  else if (deed === 'reopen') await call('task.reopen', on);
  else await call('task.delete', on);
}

import { whyNot } from '../../../src/client/replica.ts';
import type { TeamState } from '../../../src/client/replica.ts';
import { daemonNow } from '../../data/clock.ts';
import { call } from '../../data/daemon.ts';
import type { TaskPhase, TaskView } from '../../data/task-view.ts';

/** What moving a task to a column means: an action, an action that needs a form, or nothing, and why. */
export type Move =
  | { readonly kind: 'step'; readonly words: string; readonly done: string; readonly run: () => Promise<unknown> }
  | { readonly kind: 'ask'; readonly words: string; readonly form: 'give' | 'fail' | 'complete' }
  | { readonly kind: 'stay' }
  | { readonly kind: 'refused'; readonly why: string };

/** Whether a task can be moved to a column now, according to the team's own rules. */
export function moveTo(state: TeamState, { task, phase }: TaskView, to: TaskPhase): Move {
  if (phase === to) return { kind: 'stay' };
  const { id: taskId, teamId, epoch } = task;
  const at = { at: daemonNow(), by: '@user', taskId, epoch } as const;
  const on = { teamId, taskId, epoch };
  const refused = (why: string): Move => ({ kind: 'refused', why });
  const unless = (why: string | undefined, move: Move): Move => (why === undefined ? move : refused(why));
  switch (to) {
    case 'blocked':
      return refused('A task is blocked by what it waits for: add a dependency to it');
    case 'gate':
      return refused('A task comes here when a gate has rejected it too often');
    case 'pending':
      if (phase === 'blocked') return refused(`#${taskId} ${task.blockedReason ?? 'is blocked'}`);
      if (phase === 'completed' || phase === 'failed') {
        return unless(whyNot(state, { type: 'task.reopen', ...at }), {
          kind: 'step',
          words: 'Reopen',
          done: `#${taskId} is open again`,
          run: () => call('task.reopen', on),
        });
      }
      return unless(whyNot(state, { type: 'task.release', ...at }), {
        kind: 'step',
        words: `Take it from ${task.assigneeId ?? 'its holder'}`,
        done: `#${taskId} was given back`,
        run: () => call('task.release', on),
      });
    case 'in_progress':
      if (phase === 'gate') return refused(`#${taskId} waits for your answer in the queue: send it back there`);
      if (phase === 'completed' || phase === 'failed') return refused(`#${taskId} is finished: reopen it first`);
      if (phase === 'blocked') return refused(`#${taskId} ${task.blockedReason ?? 'is blocked'}`);
      return unless(whyNot(state, { type: 'task.assign', ...at, assigneeId: null }), {
        kind: 'ask',
        words: 'Give it to somebody…',
        form: 'give',
      });
    case 'completed':
      return unless(
        whyNot(state, { type: 'task.complete', ...at }),
        phase === 'blocked'
          ? { kind: 'ask', words: 'Complete it though it is blocked…', form: 'complete' }
          : {
              kind: 'step',
              words: 'Complete',
              done: `#${taskId} is completed`,
              run: () => call('task.complete', on),
            },
      );
    case 'failed':
      return unless(whyNot(state, { type: 'task.fail', ...at, reason: 'asked for' }), {
        kind: 'ask',
        words: 'Fail it, with the reason…',
        form: 'fail',
      });
  }
}

import type { TaskJson } from '../agents/agent.ts';
import { PLAN_BYTES } from '../core/limits.ts';
import { cutToBytes } from '../core/text.ts';
import type { Bench } from './bench.ts';
import { makeTurn } from './prompt.ts';
import type { Watch } from './watch.ts';
import { finish, turnWithMail } from './work.ts';

/** What came of planning: it may begin, the task is gone, or something more urgent came up. */
export type Planned = 'approved' | 'given up' | 'interrupted';

/**
 * Plans a task until the lead or a person approves the plan; what they say of one is the ground of the next. The agent
 * may only read meanwhile.
 */
export async function planFor(
  bench: Bench,
  task: TaskJson,
  options: { watch: Watch; isInterrupted: () => Promise<boolean> },
): Promise<Planned> {
  const { door, who } = bench;
  let feedback: string | undefined;
  for (;;) {
    const messages = await bench.mail.take(bench.seat.sessionId);
    const end = await turnWithMail(bench, makeTurn({ task, messages, feedback, plan: true }), task);
    if (end.reason !== 'done') {
      await finish(bench, task, end);
      return 'given up';
    }
    // An agent may hand its plan in with a tool; what it says at the end of the turn is then only a comment on it.
    const waiting = await pendingPlan(bench);
    const requestId =
      waiting ??
      (await door.call('plan.submit', { teamId: who.teamId, content: cutToBytes(end.text || '(empty)', PLAN_BYTES) }))
        .id;
    const answer = await answerTo(bench, requestId, task, options);
    if (answer === 'given up' || answer === 'interrupted') return answer;
    if (answer.approved) return 'approved';
    feedback = answer.feedback || 'The plan was not approved.';
  }
}

async function pendingPlan({ door, who }: Bench): Promise<string | undefined> {
  const plans = await door.call('request.list', { teamId: who.teamId, kind: 'plan', status: 'pending' });
  return plans.findLast(({ memberId }) => memberId === who.memberId)?.id;
}

/** Sleeps until the plan is judged, the task is no longer ours, or there is something that does not wait. */
async function answerTo(
  { door, who: { teamId } }: Bench,
  requestId: string,
  task: TaskJson,
  { watch, isInterrupted }: { watch: Watch; isInterrupted: () => Promise<boolean> },
): Promise<{ approved: boolean; feedback: string } | 'given up' | 'interrupted'> {
  for (;;) {
    const requests = await door.call('request.list', { teamId, kind: 'plan' });
    const request = requests.find(({ id }) => id === requestId);
    if (request?.status === 'approved' || request?.status === 'rejected') {
      return { approved: request.status === 'approved', feedback: request.feedback ?? '' };
    }
    if (request?.status !== 'pending') return 'given up';
    const now = await door.call('task.show', { teamId, taskId: task.id });
    if (now.status !== 'in_progress' || now.epoch !== task.epoch) return 'given up';
    if (await isInterrupted()) return 'interrupted';
    await watch.next();
  }
}

import type { TaskJson } from '../agents/agent.ts';
import { PLAN_BYTES } from '../core/limits.ts';
import { cutToBytes } from '../core/text.ts';
import type { ResultOf } from '../operations/index.ts';
import type { Bench } from './bench.ts';
import { makeTurn } from './prompt.ts';
import type { Watch } from './watch.ts';
import { finish, isHeld, turnWithMail } from './work.ts';

/** The result of planning: it may begin, the task is gone, or something more urgent came up. */
export type Planned = 'approved' | 'given up' | 'interrupted';

/**
 * Plans a task until the lead or a person approves the plan. The feedback on one plan goes into the next. Until then
 * the agent may only read.
 */
export async function planFor(
  bench: Bench,
  task: TaskJson,
  options: { watch: Watch; isInterrupted: () => Promise<boolean> },
): Promise<Planned> {
  const { door, who } = bench;
  let feedback: string | undefined;
  for (;;) {
    const before = await newestPlan(bench);
    const messages = await bench.mail.take(bench.conversation.sessionId);
    const end = await turnWithMail(bench, makeTurn({ task, messages, feedback, plan: true }), task);
    if (end.reason !== 'done') {
      await finish(bench, task, end);
      return 'given up';
    }
    // An agent may submit its plan with a tool, and it may already be judged. The turn's text is then only a comment on
    // it.
    const plan = await newestPlan(bench);
    if (plan === undefined || (plan.id === before?.id && plan.status !== 'pending')) {
      await door.call('plan.submit', { teamId: who.teamId, content: cutToBytes(end.text || '(empty)', PLAN_BYTES) });
    }
    const answer = await answerTo(bench, task, options);
    if (answer === 'given up' || answer === 'interrupted') return answer;
    if (answer.approved) return 'approved';
    feedback = answer.feedback || 'The plan was not approved.';
  }
}

async function newestPlan({ door, who }: Bench): Promise<ResultOf<'request.list'>[number] | undefined> {
  const plans = await door.call('request.list', { teamId: who.teamId, kind: 'plan' });
  return plans.findLast(({ memberId }) => memberId === who.memberId);
}

/**
 * Waits until the plan is judged, the task is no longer ours, or something more urgent comes up. A newer plan of the
 * member replaces the pending one.
 */
async function answerTo(
  bench: Bench,
  task: TaskJson,
  { watch, isInterrupted }: { watch: Watch; isInterrupted: () => Promise<boolean> },
): Promise<{ approved: boolean; feedback: string } | 'given up' | 'interrupted'> {
  for (;;) {
    const request = await newestPlan(bench);
    if (request?.status === 'approved' || request?.status === 'rejected') {
      return { approved: request.status === 'approved', feedback: request.feedback ?? '' };
    }
    if (request?.status !== 'pending') return 'given up';
    if (!(await isHeld(bench, task))) return 'given up';
    if (await isInterrupted()) return 'interrupted';
    await watch.next();
  }
}

import type { Agent, TeamTools } from '../agents/agent.ts';
import { LINE_LENGTH } from '../core/limits.ts';
import { shorten } from '../core/text.ts';
import type { ResultOf } from '../operations/index.ts';
import type { Bench } from './bench.ts';
import { isSpent } from './budget.ts';
import { pendingShutdown } from './over.ts';
import { makeTurn } from './prompt.ts';
import { turnWithMail } from './work.ts';

type Request = ResultOf<'request.list'>[number];

/** The agent, and whether it has a tool to answer with. */
interface Asked {
  readonly agent: Agent;
  readonly tools: TeamTools | undefined;
}

/**
 * Answers a shutdown request between two tasks; returns whether the member stops. An agent that can answer is asked. One
 * that says nothing agrees.
 */
export async function answerShutdown(bench: Bench, asked: Asked): Promise<boolean> {
  const { door, who, conversation } = bench;
  const request = await pendingShutdown(door, who);
  // It may have agreed with its tool in the middle of a task.
  if (request === undefined) return (await door.call('member.show', who)).status === 'shutting-down';
  const about = { teamId: who.teamId, requestId: request.id };
  // Asking costs a turn.
  const mayAsk = !(await isSpent(door, who)) && (await bench.account.isFree()).free;
  const own = mayAsk ? await conversation.askToStop(request.content) : undefined;
  if (own && !own.agreed) {
    await door.call('shutdown.reject', { ...about, feedback: shorten(own.reason ?? '', LINE_LENGTH) });
    return false;
  }
  if (mayAsk && !own && (await refuses(bench, request, asked))) return false;
  await agree(bench, request);
  return true;
}

/** Whether the agent refuses with its tool, in a turn for this question alone. */
async function refuses(bench: Bench, request: Request, { agent, tools }: Asked): Promise<boolean> {
  if (request.deadline === undefined || !agent.abilities.mail || tools === undefined) return false;
  await turnWithMail(bench, makeTurn({ messages: [], shutdown: request }));
  return (await statusOf(bench, request)) === 'rejected';
}

/** It may have agreed with its tool already. */
async function agree(bench: Bench, request: Request): Promise<void> {
  if ((await statusOf(bench, request)) !== 'pending') return;
  const { teamId } = bench.who;
  await bench.door.call('shutdown.approve', { teamId, requestId: request.id });
}

async function statusOf({ door, who: { teamId } }: Bench, { id }: Request): Promise<Request['status'] | undefined> {
  const requests = await door.call('request.list', { teamId, kind: 'shutdown' });
  return requests.find((request) => request.id === id)?.status;
}

import type { MessageJson, TaskJson, Turn } from '../agents/agent.ts';
import { indentText, wrapMessage } from '../core/envelope.ts';

/** The parts of a turn. */
export interface TurnParts {
  task?: TaskJson | undefined;
  messages: readonly MessageJson[];
  feedback?: string | undefined;
  /** The user's goal, told to a lead at the beginning. */
  goal?: string | undefined;
  digest?: string | undefined;
  plan?: boolean | undefined;
  /** It should shut down, and may refuse. */
  shutdown?: { readonly id: string; readonly content: string; readonly deadline?: string | undefined } | undefined;
}

/** Writes a turn as one text: the task, the feedback on the last attempt, and the waiting messages. */
export function makeTurn(parts: TurnParts): Turn {
  const { task, messages, goal, digest, plan } = parts;
  // The member that takes a rejected task learns why, even after a restart or another member's attempt.
  const feedback = parts.feedback ?? task?.feedback;
  const sections: string[] = [];
  if (goal) sections.push(goal);
  if (digest) sections.push(`${goal ? 'Where your team stands' : 'News of your team'}:\n${digest}`);
  if (task) sections.push(`Task #${task.id}: ${task.title}`, task.description);
  if (feedback !== undefined) sections.push(`${sentBack(parts)} was sent back. What has to change:\n\n${feedback}`);
  if (messages.length > 0) {
    sections.push(messages.length === 1 ? 'A message for you:' : `${messages.length} messages for you, oldest first:`);
    const boundary = crypto.randomUUID().slice(0, 8);
    for (const message of messages) sections.push(wrapMessage(message, boundary));
  }
  if (parts.shutdown) sections.push(askToStop(parts.shutdown));
  if (task) sections.push(plan ? PLAN_FIRST : ACCOUNT);
  return { text: sections.filter(Boolean).join('\n\n'), task, messages, feedback, digest, plan };
}

function sentBack({ feedback, plan }: TurnParts): string {
  if (feedback === undefined) return 'The last try at it';
  return plan ? 'Your plan for it' : 'Your work on it';
}

function askToStop({ id, content, deadline }: NonNullable<TurnParts['shutdown']>): string {
  const refuse = { type: 'shutdown_response', request_id: id, approve: false, reason: 'why' };
  const until = deadline === undefined ? '' : ` Without an answer by ${deadline} you are shut down.`;
  return (
    `You are asked to shut down${content ? `: ${indentText(content)}` : '.'}\nYour work is saved. To agree, end your turn now, in a few words. ` +
    `Only if you must go on, refuse with SendMessage ${JSON.stringify({ to: 'team-lead', message: refuse })}.${until}`
  );
}

const ACCOUNT = 'When you are done, end with a short account of what you did: it becomes the result of the task.';

const PLAN_FIRST =
  'Change nothing yet. Read what you need, then end with your plan: what you will do, in which files, how you will check it. ' +
  'You are told when it is approved, or what is wrong with it.';

import type { MessageJson, TaskJson, Turn } from '../agents/agent.ts';
import { wrapMessage } from '../core/envelope.ts';

/** What a turn is made of. */
export interface TurnParts {
  task?: TaskJson | undefined;
  messages: readonly MessageJson[];
  feedback?: string | undefined;
  /** What the user wants, told to a lead at the beginning. */
  goal?: string | undefined;
  digest?: string | undefined;
  plan?: boolean | undefined;
}

/** Puts what a member has to do into one text: the task, what was said of the last try, and the mail that waits. */
export function makeTurn(parts: TurnParts): Turn {
  const { task, messages, goal, digest, plan } = parts;
  // Who takes up what was sent back hears why, also when the try was somebody else's, or before a restart.
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
  if (task) sections.push(plan ? PLAN_FIRST : ACCOUNT);
  return { text: sections.filter(Boolean).join('\n\n'), task, messages, feedback, digest, plan };
}

function sentBack({ feedback, plan }: TurnParts): string {
  if (feedback === undefined) return 'The last try at it';
  return plan ? 'Your plan for it' : 'Your work on it';
}

const ACCOUNT = 'When you are done, end with a short account of what you did: it becomes the result of the task.';

const PLAN_FIRST =
  'Change nothing yet. Read what you need, then end with your plan: what you will do, in which files, how you will check it. ' +
  'You are told when it is approved, or what is wrong with it.';

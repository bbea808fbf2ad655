import type { MessageJson, TaskJson, Turn } from '../agents/agent.ts';
import { wrapText } from '../core/envelope.ts';

/** Puts what a member has to do into one text: the task, what was said of the last try, and the mail that waits. */
export function makeTurn(parts: {
  task?: TaskJson | undefined;
  messages: readonly MessageJson[];
  feedback?: string | undefined;
}): Turn {
  const { task, messages, feedback } = parts;
  const sections: string[] = [];
  if (task) sections.push(`Task #${task.id}: ${task.title}`, task.description);
  if (feedback !== undefined) {
    sections.push(`Your work on it was sent back. What has to change:\n\n${feedback}`);
  }
  if (messages.length > 0) {
    sections.push(messages.length === 1 ? 'A message for you:' : `${messages.length} messages for you, oldest first:`);
    const boundary = crypto.randomUUID().slice(0, 8);
    for (const message of messages) sections.push(wrapText(message.content, boundary, attributes(message)));
  }
  if (task) {
    sections.push('When you are done, end with a short account of what you did: it becomes the result of the task.');
  }
  return { text: sections.filter(Boolean).join('\n\n'), task, messages, feedback };
}

function attributes(message: MessageJson): Record<string, string | undefined> {
  return {
    teammate_id: message.fromId,
    message_id: message.id,
    type: message.type,
    priority: message.priority === 'urgent' ? 'urgent' : undefined,
    summary: message.summary,
    redelivery: message.redeliveries > 0 ? '1' : undefined,
  };
}

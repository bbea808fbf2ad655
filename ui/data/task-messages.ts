import type { TeamMessage } from '../../src/core/message.ts';
import type { Attempt } from './task-attempts.ts';

/**
 * The messages about a task, oldest first: those that name it, as `#7` or `task 7`, and those that its holder sent or got
 * while it worked on it. A message names no task of its own.
 */
export function messagesAbout(
  messages: Iterable<TeamMessage>,
  taskId: string,
  attempts: readonly Attempt[],
): readonly TeamMessage[] {
  const name = new RegExp(`(?:#|\\btask ?#?)${taskId}(?![\\w-])`, 'i');
  return [...messages].filter(({ fromId, toId, sentAt, content, summary = '' }) => {
    const at = sentAt.getTime();
    const isDuring = attempts.some(
      ({ memberId, since, until = Infinity }) =>
        (fromId === memberId || toId === memberId) && at >= since && at <= until,
    );
    return isDuring || name.test(summary) || name.test(content);
  });
}

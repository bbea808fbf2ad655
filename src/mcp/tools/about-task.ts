import { whyBlocked } from '../../core/blocked.ts';
import { indentText } from '../../core/envelope.ts';
import type { SharedTask } from '../../core/task.ts';
import type { Answer } from '../tool.ts';
import { toClaudeTask, toListedTask } from '../words.ts';

/** A short answer about a task that the agent knows already. */
export function aboutTask(text: string, task: SharedTask): Answer {
  return { text, data: { task: toListedTask(task) } };
}

/** An answer that shows a task and the next step. Some agents read only the text, others only the data. */
export function showTask(text: string, task: SharedTask, next?: string): Answer {
  return {
    text: `${text}${describeTask(task)}${next === undefined ? '' : `\n\n${next}`}`,
    data: { task: toClaudeTask(task), ...(next !== undefined && { next }) },
  };
}

/** Names the open dependencies of a task that ended without them. */
export function whatWasSkipped({ skipped = [] }: { skipped?: readonly string[] | undefined }): string {
  if (skipped.length === 0) return '';
  const verb = skipped.length === 1 ? 'is' : 'are';
  return `, though it was waiting for ${listOf(skipped)}, which ${verb} not completed`;
}

/** Many clients give up on a call after a minute. */
export const LANDING_MS = 45_000;

/** What an agent is told whose work still waits to land. */
export function waitsToLand({ id, work }: SharedTask): string {
  if (work?.state === 'asked') {
    return `Task #${id} is handed in and waits for its approval. There is nothing more to do for it: end your turn. If it is sent back, you get it with the reason.`;
  }
  const place = work?.place === undefined ? '' : `, place ${work.place}`;
  return `Task #${id} is handed in and waits in the merge queue${place}. There is nothing more to do for it: end your turn. If it is sent back, you get it with the reason. TaskComplete again waits for its landing; WorkStatus shows its place.`;
}

/** A task in a list, in Claude Code's format. */
export function describeInList(task: SharedTask): string {
  const { id, status, subject, owner } = toListedTask(task);
  const holder = owner === undefined ? '' : ` (${owner})`;
  const why = whyBlocked(task, (ids) => `blocked by ${listOf(ids)}`);
  return `#${id} [${status}] ${indentText(subject)}${holder}${why && ` [${indentText(why)}]`}`;
}

const listOf = (ids: readonly string[]): string => ids.map((id) => `#${id}`).join(', ');

/** A task in full, in Claude Code's format. Text of others is indented, so it cannot pass for Troupe's own words. */
function describeTask(task: SharedTask): string {
  const { status, owner, blockedBy, blockedReason } = toListedTask(task);
  const lines = [
    `Task #${task.id}: ${indentText(task.title)}`,
    `Status: ${status}`,
    ...(owner === undefined ? [] : [`Owner: ${owner}`]),
    ...(task.epoch > 1 && task.startedAt && status === 'in_progress'
      ? [`Epoch: ${task.epoch}, claimed ${task.startedAt.toISOString()}`]
      : []),
    `Description: ${indentText(task.description)}`,
    ...(task.feedback === undefined || task.status === 'completed' ? [] : [`Sent back: ${indentText(task.feedback)}`]),
    ...(task.files === undefined ? [] : [`Files: ${indentText(task.files.join(', '))}`]),
    ...(blockedBy.length > 0 ? [`Blocked by: ${listOf(blockedBy)}`] : []),
    ...(blockedReason === undefined ? [] : [`Not free: it ${indentText(blockedReason)}`]),
    ...(task.blocks.length > 0 ? [`Blocks: ${listOf(task.blocks)}`] : []),
    ...(task.result === undefined ? [] : [`Result: ${indentText(task.result)}`]),
    ...(task.failure === undefined ? [] : [`Failed: ${indentText(task.failure)}`]),
  ];
  return lines.join('\n');
}

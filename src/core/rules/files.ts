import type { CommandEnvelope } from '../command.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { filesMeet } from '../file-patterns.ts';
import { MAX_TEAMMATES } from '../limits.ts';
import { endsBlock } from '../obstacles.ts';
import { byReadiness } from '../ready.ts';
import type { TaskRecord, TeamState } from '../state.ts';

/**
 * Says which tasks are ready because these are no longer in progress, or name other files (`after`). Only the best ones:
 * the first that is claimed may block the others again, and in a large team all would be announced after every task.
 */
export function freeFiles(
  state: TeamState,
  command: CommandEnvelope,
  ending: readonly TaskRecord[],
  after?: readonly string[],
): TeamEvent[] {
  const held = ending.filter(({ status, files }) => status === 'in_progress' && files);
  if (held.length === 0) return [];
  const freed = held.map(({ id }) => id);
  return [...state.tasks.values()]
    .filter((task) => held.some((one) => one.files && task.files && filesMeet(one.files, task.files)))
    .filter((task) => !(after && task.files && filesMeet(after, task.files)))
    .filter((task) => endsBlock(state, task, { freed }))
    .sort(byReadiness)
    .slice(0, MAX_TEAMMATES)
    .map(({ id }) => event(command, 'task:unblocked', { taskId: id }));
}

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
  after: readonly string[] = [],
): TeamEvent[] {
  const held = ending.filter(({ status }) => status === 'in_progress');
  const files = held.flatMap((task) => task.files ?? []);
  if (files.length === 0) return [];
  const freed = held.map(({ id }) => id);
  return [...state.tasks.values()]
    .filter((task) => task.files && filesMeet(files, task.files) && !filesMeet(after, task.files))
    .filter((task) => endsBlock(state, task, { freed }))
    .sort(byReadiness)
    .slice(0, MAX_TEAMMATES)
    .map(({ id }) => event(command, 'task:unblocked', { taskId: id }));
}

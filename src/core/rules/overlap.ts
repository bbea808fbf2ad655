import { SYSTEM } from '../actor.ts';
import type { CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { PATHS_PER_OVERLAP } from '../limits.ts';
import { overlapKey } from '../overlap-view.ts';
import type { OverlapRecord, OverlapSide, WorkOverlap } from '../overlap.ts';
import type { TeamState } from '../state.ts';
import { inOneLine, joinSome, quote } from '../text.ts';
import { requireTask, requireTeam } from '../view.ts';
import { readersOf, requireActor, requireOpenTeam } from './guard.ts';

/**
 * Records what two members changed alike. Both and the lead hear of it once: again only if there is another file or
 * another conflict. Saves are compared while the team goes on, so what no longer holds is no error and has no effect.
 */
export function overlapWork(state: TeamState, command: CommandOf<'work.overlap'>): TeamEvent[] {
  requireOpenTeam(state);
  const { by, sides, files, paths, conflicts } = command;
  requireActor(state, by);
  if (by !== SYSTEM) throw new TeamError('not_allowed', `${by} may not compare work: only Troupe itself may`);
  const [one, other] = sides;
  if (Number(one.taskId) >= Number(other.taskId)) {
    throw new TeamError('invalid', 'sides: the task with the smaller number comes first');
  }
  if (one.memberId === other.memberId || !sides.every((side) => isAtWork(state, side))) return [];
  const known = state.overlaps.get(overlapKey(sides));
  if (known ? isSame(known, command) : files === 0) return [];
  const overlapped = event(command, 'work:overlapped', { sides, files, paths, conflicts });
  return [overlapped, ...(isNews(known, command) ? tellOverlap(state, command, known) : [])];
}

function isAtWork({ tasks }: TeamState, { memberId, taskId, epoch }: OverlapSide): boolean {
  const task = tasks.get(taskId);
  return task?.status === 'in_progress' && task.assigneeId === memberId && task.epoch === epoch;
}

/** Whether an overlap is as the team knows it. */
export function isSame(a: WorkOverlap, b: WorkOverlap): boolean {
  return a.files === b.files && haveSame(a.paths, b.paths) && haveSame(a.conflicts, b.conflicts);
}

function haveSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((path, i) => path === b[i]);
}

/** A long list is as good as any longer one: then only conflicts are news. */
function isNews(known: OverlapRecord | undefined, { paths, conflicts }: WorkOverlap): boolean {
  const told = known?.told ?? { paths: [], conflicts: [] };
  const isNew = (before: readonly string[], now: readonly string[]): boolean =>
    before.length < PATHS_PER_OVERLAP && now.some((path) => !before.includes(path));
  return isNew(told.paths, paths) || isNew(told.conflicts, conflicts);
}

function tellOverlap(
  state: TeamState,
  command: CommandOf<'work.overlap'>,
  known: OverlapRecord | undefined,
): TeamEvent[] {
  const { sides } = command;
  const [one, other] = sides;
  const readers = readersOf(state, [one.memberId, other.memberId, requireTeam(state).leadId]);
  if (readers.length === 0) return [];
  const about = sides.map(({ taskId, epoch }) => `${taskId}.${epoch}`).join('-');
  const number = (known?.times ?? 0) + 1;
  return [
    event(command, 'message:sent', {
      copies: readers.map((toId) => ({ id: `overlap-${about}-${number}/${toId}`, toId })),
      messageType: 'system',
      content: wordOverlap(state, command),
      priority: 'normal',
      metadata: { taskIds: [one.taskId, other.taskId] },
    }),
  ];
}

/** The same words for both members and the lead. */
function wordOverlap(state: TeamState, { sides, files, paths, conflicts }: WorkOverlap): string {
  const [one, other] = sides.map(
    ({ memberId, taskId }) => `${memberId} (task #${taskId}, ${quote(requireTask(state, taskId).title)})`,
  );
  const more = files > paths.length ? `, and ${files - paths.length} more files` : '';
  const merges =
    conflicts.length === 0 ? 'These changes merge so far.' : `These changes already conflict in ${list(conflicts)}.`;
  return (
    `${one} and ${other} have both changed ${list(paths)}${more}. ${merges} ` +
    'Write to each other about who changes what. Nothing is lost: whoever completes second gets both versions in its ' +
    'folder, with markers where they conflict.'
  );
}

function list(paths: readonly string[]): string {
  return joinSome(paths.map(inOneLine), ', ');
}

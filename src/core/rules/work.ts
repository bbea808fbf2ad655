import { SYSTEM } from '../actor.ts';
import type { CommandOf } from '../command.ts';
import { shortId } from '../commit-id.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { describeTask } from '../obstacles.ts';
import { isExpected } from '../state.ts';
import type { TaskRecord, TeamState } from '../state.ts';
import { joinSome, quote } from '../text.ts';
import { requireTask } from '../view.ts';
import type { HandedIn, StandingWork } from '../work.ts';
import { requireActor, requireFresh, requireLive, requireOpenTeam, requireSelf } from './guard.ts';
import { loseWork } from './lost.ts';
import { overlapWork } from './overlap.ts';
import { askAboutConflicts } from './request.ts';
import type { RulesOf } from './rule.ts';

export const WORK_RULES: RulesOf<'work'> = {
  'work.begin': beginWork,
  'work.keep': keepWork,
  'work.lose': loseWork,
  'work.overlap': overlapWork,
};

/** A holder begins a task in its workspace, or continues it there. The epoch binds the work to the holder. */
function beginWork(state: TeamState, command: CommandOf<'work.begin'>): TeamEvent[] {
  requireOpenTeam(state);
  const { by, taskId, memberId, epoch, base } = command;
  requireActor(state, by);
  requireSelf(by, memberId, 'begin work for');
  const task = requireTask(state, taskId);
  requireFresh(task, { epoch });
  requireWork(state);
  if (requireLive(state, memberId).workspace !== 'own') {
    throw new TeamError('conflict', `${memberId} has no workspace of its own: it works in the team's folder`);
  }
  requireHeldBy(state, task, memberId);
  const { work } = task;
  if (work?.epoch === epoch && work.base === base && work.state === 'begun') return [];
  return [event(command, 'work:begun', { taskId, memberId, epoch, base })];
}

/** Only Troupe itself puts work away. */
function keepWork(state: TeamState, command: CommandOf<'work.keep'>): TeamEvent[] {
  requireOpenTeam(state);
  requireActor(state, command.by);
  const { by, memberId, taskId, commit, ref, why } = command;
  if (by !== SYSTEM) throw new TeamError('not_allowed', `${by} may not put work away: only Troupe itself may`);
  return [event(command, 'work:kept', { memberId, taskId, commit, ref, why })];
}

/** What follows for the team's branch if a task is completed with this work. */
export function landWork(state: TeamState, command: CommandOf<'task.complete'>, task: TaskRecord): TeamEvent[] {
  const { work } = command;
  if (!work) return [];
  const submitted = submitWork(state, command, task, work);
  const { epoch, commit, files, onto, merged, conflicts = [] } = work;
  const about = { taskId: task.id, epoch };
  if (files === 0) return [submitted];
  if (merged !== undefined) return [submitted, event(command, 'work:landed', { ...about, commit, onto, merged })];
  const conflicted = event(command, 'work:conflicted', { ...about, commit, onto, files: conflicts });
  return [submitted, conflicted, ...tellConflict(state, command, task, work)];
}

/** Work that conflicts with what landed goes back to its holder, whose workspace gets both sides. */
export function sendBackWork(
  state: TeamState,
  command: CommandOf<'task.reject'>,
  task: TaskRecord,
  work: HandedIn,
): TeamEvent[] {
  const submitted = submitWork(state, command, task, work);
  const { epoch, commit, onto, conflicts: files = [] } = work;
  const { feedback } = command;
  return [
    submitted,
    event(command, 'work:conflicted', { taskId: task.id, epoch, commit, onto, files, feedback }),
    ...askAboutConflicts(state, command, task),
  ];
}

/** The work of the task's holder, merged onto the present tip. */
function submitWork(
  state: TeamState,
  command: CommandOf<'task.complete' | 'task.reject'>,
  task: TaskRecord,
  { memberId, epoch, base, commit, files, added, removed, paths, onto, pack }: HandedIn,
): TeamEvent {
  const { tip, branch, roots } = requireWork(state);
  requireHeldBy(state, task, memberId);
  requireFresh(task, { epoch });
  if (roots && files > 0 && !pack) {
    throw new TeamError('conflict', `The work of task ${task.id} lies on one machine only: store its pack first`);
  }
  if (onto !== tip) {
    throw new TeamError(
      'stale_revision',
      `The branch ${branch} is at ${shortId(tip)} now, not at ${shortId(onto)}: merge the work of task ${task.id} again`,
    );
  }
  const size = { files, added, removed, paths };
  return event(command, 'work:submitted', { taskId: task.id, epoch, memberId, base, commit, ...size, pack });
}

/** Tells the lead and the holder, once and in the same step: nobody else would notice. */
function tellConflict(
  state: TeamState,
  command: CommandOf<'task.complete'>,
  task: TaskRecord,
  { memberId, epoch, commit, conflicts = [] }: HandedIn,
): TeamEvent[] {
  const { leadId = '', work } = state.team ?? {};
  const readers = [...new Set([leadId, memberId])].filter((id) => {
    const member = state.members.get(id);
    return member && isExpected(member);
  });
  if (readers.length === 0) return [];
  const content =
    `Task #${task.id} (${quote(task.title)}) is completed, but its work does not merge onto ${work?.branch}: ` +
    `${joinSome(conflicts, ', ')} ${conflicts.length === 1 ? 'conflicts' : 'conflict'} with work that landed before. ` +
    `Nothing is lost: commit ${shortId(commit)} has it, and troupe diff ${task.id} shows it. ` +
    'To bring it in, make a task that repeats these changes on the present files.';
  return [
    event({ ...command, by: SYSTEM }, 'message:sent', {
      copies: readers.map((toId) => ({ id: `work-${task.id}-${epoch}/${toId}`, toId })),
      messageType: 'system',
      content,
      priority: 'normal',
      metadata: { taskId: task.id },
    }),
  ];
}

function requireWork(state: TeamState): StandingWork {
  const { work } = requireOpenTeam(state);
  if (work) return work;
  throw new TeamError('conflict', `Team ${state.teamId} has no workspaces: its members share a folder`);
}

function requireHeldBy(state: TeamState, task: TaskRecord, memberId: string): void {
  if (task.status === 'in_progress' && task.assigneeId === memberId) return;
  throw new TeamError(
    'conflict',
    `${memberId} does not hold ${describeTask(state, task.id)}: its work cannot count for it`,
  );
}

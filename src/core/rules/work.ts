import { SYSTEM } from '../actor.ts';
import type { CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { describeTask } from '../obstacles.ts';
import type { TaskRecord, TeamState } from '../state.ts';
import { requireTask } from '../view.ts';
import type { StandingWork } from '../work.ts';
import { requireActor, requireFresh, requireLive, requireOpenTeam, requireSelf } from './guard.ts';
import { overlapWork } from './overlap.ts';
import type { RulesOf } from './rule.ts';

export const WORK_RULES: Omit<RulesOf<'work'>, 'work.submit' | 'work.ask' | 'work.review'> = {
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
  if (work?.epoch === epoch && work.base === base && work.state === 'begun' && !work.aside) return [];
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

/** Landed work is gone with the repository that had it: the branch goes on from what is left of it. */
function loseWork(state: TeamState, command: CommandOf<'work.lose'>): TeamEvent[] {
  const { work } = requireOpenTeam(state);
  const { by, from, to, works, why } = command;
  requireActor(state, by);
  if (by !== SYSTEM) throw new TeamError('not_allowed', `${by} may not give work up: only Troupe itself may`);
  // Somebody else said so already, or the branch went on meanwhile.
  if (work?.tip !== from || from === to) return [];
  return [event(command, 'work:lost', { from, to, works, why })];
}

export function requireWork(state: TeamState): StandingWork {
  const { work } = requireOpenTeam(state);
  if (work) return work;
  throw new TeamError('conflict', `Team ${state.teamId} has no workspaces: its members share a folder`);
}

export function requireHeldBy(state: TeamState, task: TaskRecord, memberId: string): void {
  if (task.status === 'in_progress' && task.assigneeId === memberId) return;
  throw new TeamError(
    'conflict',
    `${memberId} does not hold ${describeTask(state, task.id)}: its work cannot count for it`,
  );
}

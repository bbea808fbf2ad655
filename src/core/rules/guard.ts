import { SYSTEM, USER } from '../actor.ts';
import type { Actor } from '../actor.ts';
import { hasProcess } from '../agent-kinds.ts';
import type { CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { isTroubleKey } from '../hook-trouble.ts';
import { fits, mergeMetadata } from '../json.ts';
import type { Metadata } from '../json.ts';
import { METADATA_BYTES, TASKS_PER_TEAM } from '../limits.ts';
import { describeTask, explainBlocked, isDelegating, refuseClaim } from '../obstacles.ts';
import { isVacant } from '../person.ts';
import { isPriority } from '../ready.ts';
import { isExpected } from '../state.ts';
import type { MemberRecord, TaskRecord, TeamRecord, TeamState } from '../state.ts';
import { SharedTaskPriority } from '../task.ts';
import { joinSome, quote } from '../text.ts';
import { requireMember, requireTask, requireTeam } from '../view.ts';
import { isLost, waitingOf } from '../waiting.ts';

/** The team, if it can still change. */
export function requireOpenTeam(state: TeamState): TeamRecord {
  const team = requireTeam(state);
  if (team.status === 'cleaned-up') {
    throw new TeamError('team_closed', `Team ${state.teamId} is closed: it can be read, not changed`);
  }
  return team;
}

/** Requires that the caller is a person, Troupe itself, or a live member. */
export function requireActor(state: TeamState, by: Actor): void {
  if (by === USER || by === SYSTEM) return;
  requireLive(state, by);
}

/** A member that is not stopped. */
export function requireLive(state: TeamState, memberId: string): MemberRecord {
  const member = requireMember(state, memberId);
  if (isLost(member)) {
    throw new TeamError('member_stopped', `Member ${memberId} of team ${state.teamId} is lost: ${waitingOf(member)}`);
  }
  if (member.status === 'stopped') {
    throw new TeamError(
      'member_stopped',
      `Member ${memberId} of team ${state.teamId} is stopped: start it again first`,
    );
  }
  return member;
}

/** Requires that the recipient is more than the place of a lead that the team does not have. */
export function requireTaken(state: TeamState, recipient: MemberRecord): void {
  if (!isVacant(recipient)) return;
  const members = [...state.members.values()].filter((member) => isExpected(member) && !isVacant(member));
  const advice =
    members.length === 0
      ? 'start a member first'
      : `write to ${joinSome(
          members.map(({ id }) => id),
          ' or ',
        )}`;
  throw new TeamError('not_found', `Team ${state.teamId} has no lead, so nobody would read it: ${advice}`);
}

/** Those of some members that can read mail, each once: not the stopped ones, nor a lead that the team does not have. */
export function readersOf({ members }: TeamState, ids: readonly string[]): string[] {
  return [...new Set(ids)].filter((id) => {
    const member = members.get(id);
    return member && isExpected(member) && !isVacant(member);
  });
}

/** Whether the caller may decide for others: the lead, a person or Troupe itself. */
function isManager(state: TeamState, by: Actor): boolean {
  return by === USER || by === SYSTEM || by === state.team?.leadId;
}

/** Requires that the caller is a manager, or the affected member itself. */
export function requireManager(state: TeamState, by: Actor, what: string, self?: string): void {
  if (!isManager(state, by) && by !== self) {
    const { leadId } = requireTeam(state);
    const lead = isVacant(requireMember(state, leadId)) ? '' : `${leadId} or `;
    throw new TeamError('not_allowed', `${by} may not ${what}: ask ${lead}a person`);
  }
  requireActor(state, by);
}

/**
 * Requires that a member speaks through the daemon that runs it. A daemon that was suspended or disconnected may have
 * lost the member to another machine, and its process may not know that yet.
 */
export function requireHost(state: TeamState, by: Actor, hostId: string): void {
  const member = state.members.get(by);
  if (!member?.agent || !hasProcess(member.agent) || member.hostId === hostId) return;
  const where = member.hostId === undefined ? 'waits for a machine' : `runs on ${member.hostId}`;
  throw new TeamError(
    'member_stopped',
    `${by} ${where} now, not on ${hostId}: its old process there may not act for it`,
  );
}

/** Requires a person, or Troupe in a person's place. */
export function requirePerson(by: Actor, what: string): void {
  if (by === USER || by === SYSTEM) return;
  throw new TeamError('not_allowed', `${by} may not ${what}: only a person may`);
}

/** A lead in delegate mode only coordinates: it takes no work, and nobody can assign it any. */
export function requireWorker(state: TeamState, memberId: Actor): void {
  if (isDelegating(requireTeam(state), memberId)) throw refuseClaim(state, memberId, { kind: 'delegating' });
}

/** Requires that the caller is the affected member, or Troupe in its place. */
export function requireSelf(by: Actor, memberId: string, what: string): void {
  if (by === memberId || by === SYSTEM) return;
  throw new TeamError('not_allowed', `${by} may not ${what} ${memberId}: only ${memberId} may`);
}

/** Refuses a caller that saw an older version of the task: its conclusions may be wrong. */
export function requireFresh(
  task: TaskRecord,
  seen: { epoch?: number | undefined; revision?: number | undefined },
): void {
  if (seen.epoch !== undefined && seen.epoch !== task.epoch) {
    throw new TeamError(
      'stale_epoch',
      `Task ${task.id} is at epoch ${task.epoch}, not ${seen.epoch}: it changed hands; claim it again before writing`,
    );
  }
  if (seen.revision !== undefined && seen.revision !== task.revision) {
    throw new TeamError(
      'stale_revision',
      `Task ${task.id} is at revision ${task.revision}, not ${seen.revision}: read it again, then decide again`,
    );
  }
}

/** Requires that the merged metadata fits, however small the update is. */
export function requireFit(what: string, before: Metadata | undefined, changes: Metadata | undefined): void {
  if (!changes || fits(mergeMetadata(before, changes) ?? {})) return;
  throw new TeamError(
    'limit',
    `The metadata of ${what} would be larger than ${METADATA_BYTES} bytes: set keys to null to remove them`,
  );
}

/**
 * Keys of metadata from which Troupe reads facts. Of a team: its place, its notices, and Claude Code's team it is joined to.
 * Of a member and a task: the same one there (`native`). Of a task: which one of the team file it is (`key`).
 */
const PLACE = ['folder', 'file', 'host', 'notify', 'notifyFolder'];
/** What says that a team is, or was, joined to one of Claude Code's. */
export const JOINED = ['native', 'formerNative', 'nativeShutdowns', 'nativeOwed'];
const KEPT = { team: [...PLACE, ...JOINED], member: ['native'], task: ['native', 'key'] } as const;

/** Requires a person or Troupe for metadata from which Troupe reads facts. All other keys are free. */
export function requireFreeKeys(
  by: Actor,
  what: keyof typeof KEPT,
  { before, changes = {} }: { before: Metadata | undefined; changes: Metadata | undefined },
): void {
  const kept = Object.keys(changes).filter(
    (key) =>
      (KEPT[what].some((one) => one === key) || (what === 'team' && isTroubleKey(key))) &&
      JSON.stringify(changes[key]) !== JSON.stringify(before?.[key]),
  );
  if (kept.length > 0) requirePerson(by, `write ${joinSome(kept, ', ')} into the metadata of a ${what}`);
}

/** Requires the task's holder or a manager. If nobody could end the task now, that is the reason for the refusal. */
function requireHolder(state: TeamState, task: TaskRecord, by: Actor, verb: string): void {
  if (isManager(state, by)) return;
  if (task.status === 'in_progress' && task.assigneeId === by) return;
  requireUnfinished(state, task, verb);
  const why = explainBlocked(state, task);
  if (why !== undefined) throw new TeamError('blocked', `Cannot ${verb} task ${task.id}: it ${why}`);
  const isFree = task.status === 'pending' && (task.assigneeId ?? by) === by;
  const next = isFree && verb !== 'release' && verb !== 'send back' ? '; claim it first' : '';
  throw new TeamError(
    'not_allowed',
    `${by} may not ${verb} ${describeTask(state, task.id)}: only its holder may${next}`,
  );
}

/** Requires a task that is in progress, or pending: a manager may end it then. */
export function requireUnfinished(state: TeamState, task: TaskRecord, verb: string): void {
  if (task.status === 'in_progress' || task.status === 'pending') return;
  throw new TeamError('conflict', `Cannot ${verb} ${describeTask(state, task.id)}: it is finished; reopen it first`);
}

/** A caller that skips the schema may omit the priority. A task without one would break the order of all others. */
export function requirePriority(priority: SharedTaskPriority): void {
  if (isPriority(priority)) return;
  const given = priority === undefined ? 'A task without a priority' : `${quote(String(priority))} as a priority`;
  throw new TeamError('invalid', `${given} cannot be ordered: give ${SharedTaskPriority.options.join(', ')}`);
}

/** Requires room for one more task; deleted ones do not count. */
export function requireRoom(state: TeamState): void {
  if (state.tasks.size - state.index.counts.deleted < TASKS_PER_TEAM) return;
  throw new TeamError(
    'limit',
    `Team ${state.teamId} has ${TASKS_PER_TEAM} tasks, the limit: delete some or make another team`,
  );
}

/** The task, if the caller is its holder or a manager. */
export function writable(
  state: TeamState,
  command: CommandOf<'task.release' | 'task.complete' | 'task.reject' | 'task.fail' | 'work.submit'>,
  verb: string,
): TaskRecord {
  requireOpenTeam(state);
  requireActor(state, command.by);
  const task = requireTask(state, command.taskId);
  requireFresh(task, command);
  requireHolder(state, task, command.by, verb);
  return task;
}

/** The task, if the caller may complete it. What was handed in lands even if its completer may not any more. */
export function completable(state: TeamState, command: CommandOf<'task.complete' | 'work.submit'>): TaskRecord {
  const task = writable(state, command, 'complete');
  requireUnfinished(state, task, 'complete');
  // A lead may finish what it took before it led or before delegate mode.
  if (task.status === 'pending' || task.assigneeId !== command.by) requireWorker(state, command.by);
  const member = state.members.get(command.by);
  if (member?.planApprovalRequired && !member.planApproved) {
    throw new TeamError('not_allowed', `${command.by} may only read until its plan is approved: submit a plan first`);
  }
  return task;
}

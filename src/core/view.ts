import { TeamError } from './errors.ts';
import { filesInTheWay } from './in-the-way.ts';
import { DELETED_TASKS } from './limits.ts';
import type { TeamMember } from './member.ts';
import { findNearest } from './nearest.ts';
import type { TeamNote } from './note.ts';
import { explainBlocked, isBlocked, openDependencies } from './obstacles.ts';
import { isVacant } from './person.ts';
import { approverNow, isLanding, placeOf } from './queue-view.ts';
import { assignedTo, dependentsOf } from './ready.ts';
import type { MemberRecord, TaskRecord, TeamState } from './state.ts';
import type { SharedTask } from './task.ts';
import type { TeamConfig } from './team.ts';
import { joinSome, quote } from './text.ts';
import { addUsage, NO_USAGE } from './usage.ts';
import type { Usage } from './usage.ts';
import type { TaskWork } from './work.ts';

/** Only rules read these fields of a record. A copy that unsets them is ten times as fast as one that leaves them out. */
const FOR_RULES = { granted: undefined, workedMs: undefined };

/** A task as the faces show it: its record and derived fields. */
export function viewTask(state: TeamState, task: TaskRecord): SharedTask {
  const blocked = task.status === 'pending' && isBlocked(state, task);
  const blockedBy = blocked ? openDependencies(state, task) : [];
  const view: SharedTask = {
    ...task,
    ...FOR_RULES,
    status: blocked ? 'blocked' : task.status,
    blockedBy,
    blocks: dependentsOf(state, task.id).filter((id) => state.tasks.get(id)?.status !== 'deleted'),
  };
  const files = blocked ? filesInTheWay(state, task) : [];
  if (files.length > 0) view.filesHeldBy = files;
  const why = blocked ? explainBlocked(state, task) : undefined;
  if (why !== undefined) view.blockedReason = why;
  const { work } = task;
  const place = placeOf(state, task);
  // What has a place in the queue is a work.
  if (place > 0) view.work = { ...(work as TaskWork), place, ...(isLanding(state, task.id) && { isLanding: true }) };
  const waitsFor = approverNow(state, task);
  if (waitsFor) view.work = { ...(work as TaskWork), waitsFor };
  return view;
}

/** A member as the faces show it. */
export function viewMember(
  state: TeamState,
  {
    planApproved,
    firstJoinedAt: _firstJoinedAt,
    restarts: _restarts,
    interruptions: _interruptions,
    spawns: _spawns,
    sendsPaidAt: _sendsPaidAt,
    granted: _granted,
    ranMs: _ranMs,
    ...member
  }: MemberRecord,
): TeamMember {
  return {
    ...member,
    // Another member leads by now; a role that somebody wrote stays.
    ...(member.role === 'lead' && state.team && member.id !== state.team.leadId && { role: 'teammate' }),
    assignedTasks: assignedTo(state, member.id),
    planModeRequired: member.planApprovalRequired && !planApproved,
  };
}

/** When a member first joined. It keeps this after a crash; a new member under the name of one that left does not. */
export function sameSince({ firstJoinedAt, joinedAt }: MemberRecord): number {
  return firstJoinedAt ?? joinedAt.getTime();
}

/** A team as the faces show it, the lead first. */
export function viewTeam(state: TeamState): TeamConfig {
  const {
    granted: _granted,
    runsSince: _runsSince,
    ranMs: _ranMs,
    leadTerm: _leadTerm,
    peersPaidAt: _peersPaidAt,
    ...team
  } = requireTeam(state);
  const members = [...state.members.values()].map((member) => viewMember(state, member));
  const isLead = (member: TeamMember) => Number(member.id === team.leadId);
  return { ...team, members: members.sort((a, b) => isLead(b) - isLead(a)) };
}

/** The usage of the whole team. */
export function teamUsage(state: TeamState): Usage {
  return [...state.memberUsage.values()].reduce(addUsage, NO_USAGE);
}

/** The team's record; throws `not_found` if there is none. */
export function requireTeam(state: TeamState): NonNullable<TeamState['team']> {
  if (state.team) return state.team;
  throw new TeamError(
    'not_found',
    `There is no team ${quote(state.teamId)}: list the teams to see which exist, or create it`,
  );
}

/** Distinguishes a team from an earlier one of its name: a cursor of one is invalid in the other. */
export function streamOf({ createdAt }: { createdAt: Date }): string {
  return createdAt.getTime().toString(36);
}

/** A task's record. Deleted tasks are found only with `deleted`. */
export function requireTask(state: TeamState, id: string, options: { deleted?: boolean } = {}): TaskRecord {
  const task = state.tasks.get(id);
  if (task && (options.deleted || task.status !== 'deleted')) return task;
  const isForgotten = state.deleted.size === DELETED_TASKS && Number(id) < state.nextTask;
  const gone = task ? 'was deleted' : isForgotten ? 'does not exist; it may have been deleted' : 'does not exist';
  throw new TeamError('not_found', `Task ${quote(id)} of team ${requireTeam(state).id} ${gone}`, {
    facts: { list: 'task' },
  });
}

/** A note; throws if it does not exist. */
export function requireNote(state: TeamState, id: string): TeamNote {
  const note = state.notes.get(id);
  if (note) return note;
  throw new TeamError('not_found', `Team ${requireTeam(state).id} has no note ${quote(id)}`, {
    facts: { list: 'note' },
  });
}

/** A member's record, stopped or not. */
export function requireMember(state: TeamState, id: string): MemberRecord {
  const member = state.members.get(id);
  if (member) return member;
  // Not the stopped ones: over the life of a team there may be thousands.
  const live = [...state.members.values()]
    .filter((one) => one.status !== 'stopped' && !isVacant(one))
    .map(({ id: name }) => name);
  const team = requireTeam(state).id;
  if (!id.startsWith('@')) {
    // In a closed team, all have stopped.
    const has = live.length > 0 ? live.join(', ') : describeStopped(state);
    const near = findNearest(id, [...state.members.keys()]);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    throw new TeamError('not_found', `Team ${team} has no member ${quote(id)}; it has ${has}${hint}`);
  }
  const others = live.join(', ') || 'no live members';
  throw new TeamError(
    'invalid',
    `Only a member of team ${team} (${others}) can do that, and you are calling as ${id}`,
    {
      facts: { needs: 'speaker' },
    },
  );
}

/** The newest of the members that have stopped: over the life of a team there may be thousands. */
function describeStopped({ members }: TeamState): string {
  const stopped = [...members.values()].filter((one) => !isVacant(one)).map(({ id }) => id);
  return stopped.length === 0 ? 'no members' : `${joinSome(stopped.reverse(), ', ')} (stopped)`;
}

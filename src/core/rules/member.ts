import { SYSTEM } from '../actor.ts';
import type { Actor } from '../actor.ts';
import { requireTeamFile } from '../agent-kinds.ts';
import { isHandedIn } from '../approval.ts';
import { isRaised } from '../budget.ts';
import type { CommandEnvelope, CommandOf } from '../command.ts';
import { ClaimConflictError, TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { folderOfNewMember, workspaceOfNewMember } from '../folder.ts';
import { assignedTo } from '../ready.ts';
import { isExpected } from '../state.ts';
import type { MemberRecord, TaskRecord, TeamState } from '../state.ts';
import { isNoUsage, subtractUsage } from '../usage.ts';
import { requireMember, requireTask, requireTeam } from '../view.ts';
import { waitingOf } from '../waiting.ts';
import { askInPlaceOf } from './approval.ts';
import { freeFiles } from './files.ts';
import { requireFit, requireFreeKeys, requireLive, requireManager, requireOpenTeam, requirePerson } from './guard.ts';
import { leaveWork, withdrawWork } from './landing.ts';
import { requireOnLimit } from './on-limit.ts';
import { requireSpawnPace } from './pace.ts';
import { requireNoSecrets } from './secret.ts';
import { switchAgent } from './switch.ts';

/** In Claude Code's order, then ours. The lead has none. */
const COLORS = ['blue', 'green', 'yellow', 'purple', 'orange', 'pink', 'cyan', 'red'];

export function joinTeam(state: TeamState, command: CommandOf<'member.join'>): TeamEvent[] {
  const team = requireOpenTeam(state);
  requireManager(state, command.by, 'add members to the team');
  const before = state.members.get(command.name);
  if (before && before.status !== 'stopped') {
    throw new TeamError(
      'exists',
      `Team ${state.teamId} has a live member ${command.name} (${before.status}): choose another name`,
    );
  }
  const others = liveTeammates(state).filter((member) => member.id !== command.name);
  if (command.name !== team.leadId && others.length >= team.maxTeammates) {
    throw new TeamError(
      'limit',
      `Team ${state.teamId} has ${team.maxTeammates} teammates, its limit: stop one or raise maxTeammates`,
    );
  }
  // A returning member with an unchanged agent must not be refused for what is already stored.
  const isKept = JSON.stringify(command.agent) === JSON.stringify(before?.agent);
  if (!isKept) requireNoSecrets(command.agent, `member ${command.name}`);
  if (!isKept) requireTeamFile(command.agent);
  if (command.agent) requireSpawnPace(state, command);
  const isQuiet = command.quietHours !== undefined && command.quietHours !== before?.quietHours;
  if (isQuiet) requirePerson(command.by, 'choose quiet hours');
  requireOnLimit(command, before?.onLimit);
  requireFreeKeys(command.by, 'member', { before: before?.metadata, changes: command.metadata });
  const lead = state.members.get(team.leadId);
  requireKnownFolder(command.by, command.cwd, [lead?.cwd, before?.cwd]);
  if (command.workspace === 'shared' && team.work && before?.workspace !== 'shared') {
    requirePerson(command.by, "let a member share the team's folder");
  }
  const cwd = folderOfNewMember(command, lead);
  return [
    event(command, 'teammate:joined', {
      memberId: command.name,
      sessionId: command.sessionId,
      role: command.role,
      agentType: command.agentType,
      status: command.status,
      spawnPrompt: command.prompt || undefined,
      planApprovalRequired: command.planApprovalRequired,
      model: command.model,
      color: command.color ?? before?.color ?? nextColor(state, command.name),
      cwd,
      workspace: workspaceOfNewMember(team.work, { ...command, cwd }),
      backendType: command.backendType,
      agent: command.agent,
      host: command.host,
      labels: command.labels,
      budget: command.budget,
      quietHours: command.quietHours,
      onLimit: command.onLimit,
      metadata: command.metadata,
    }),
  ];
}

/**
 * Only a person says where a member works: its agent changes files there without asking, and a sandbox opens that folder. An
 * agent could name the one with the user's keys.
 */
function requireKnownFolder(by: Actor, cwd: string | undefined, known: readonly (string | undefined)[]): void {
  if (cwd !== undefined && !known.includes(cwd)) requirePerson(by, 'choose the folder of a member');
}

/** A daemon is about to start a process for a member. Of several that could, the first one wins. */
export function placeMember(state: TeamState, command: CommandOf<'member.place'>): TeamEvent[] {
  requireOpenTeam(state);
  if (command.by !== SYSTEM) {
    throw new TeamError('not_allowed', `${command.by} may not place members: only a daemon may`);
  }
  const member = requireLive(state, command.memberId);
  const forgotten = releaseForgotten(state, command);
  if (member.hostId === command.hostId) return forgotten;
  if (member.hostId !== undefined) throw new ClaimConflictError(`Member ${member.id} runs on ${member.hostId}`);
  if (member.host !== undefined && member.host !== command.hostId) {
    throw new ClaimConflictError(`Member ${member.id} is to run on ${member.host}, not on ${command.hostId}`);
  }
  const placed = event(command, 'teammate:placed', { memberId: member.id, hostId: command.hostId });
  // It waited for this, and its record said why.
  if (waitingOf(member) === undefined) return [placed, ...forgotten];
  const changed = event(command, 'teammate:changed', { memberId: member.id, metadata: { waiting: null } });
  return [placed, changed, ...forgotten];
}

/**
 * A daemon places a member each time before it starts a process for it, and a new process knows of no task. What the
 * member still holds would wait forever, so it goes back, and the member can claim it like any other. A task about which
 * a person decides waits for the answer, not for the member; what it handed in waits for its landing.
 */
function releaseForgotten(state: TeamState, command: CommandOf<'member.place'>): TeamEvent[] {
  const { memberId } = command;
  const decided = new Set<string | undefined>();
  for (const { kind, status, taskId, memberId: whose } of state.requests.values()) {
    if (kind === 'gate' && status === 'pending' && whose === memberId) decided.add(taskId);
  }
  const forgotten = assignedTo(state, memberId)
    .map((taskId) => requireTask(state, taskId))
    .filter(({ id, status }) => status === 'in_progress' && !decided.has(id));
  const [submitted, released] = [
    forgotten.filter(({ work }) => isHandedIn(work)),
    forgotten.filter(({ work }) => !isHandedIn(work)),
  ];
  const reason = `${memberId} was started again and did not know of it`;
  return [
    ...submitted.flatMap((task) => leaveWork(command, task)),
    ...released.map(({ id, epoch }) =>
      event(command, 'task:released', { taskId: id, memberId, epoch: epoch + 1, reason }),
    ),
    ...freeFiles(state, command, released),
  ];
}

/** Idle is announced once, when work ends, with the result; a repetition changes nothing. */
export function changeMember(state: TeamState, command: CommandOf<'member.change'>): TeamEvent[] {
  requireOpenTeam(state);
  requireManager(state, command.by, 'change other members', command.memberId);
  const member = requireLive(state, command.memberId);
  if (command.use !== undefined) return switchAgent(state, command, member, command.use);
  const { type: _type, at: _at, by: _by, commandId: _commandId, result, reason, status, ...changes } = command;
  if (status !== undefined && member.status === 'shutting-down' && status !== member.status) {
    requireManager(state, command.by, 'take back its agreement to shut down');
  }
  if (changes.budget && isRaised(member.budget, changes.budget)) requirePerson(command.by, 'raise a budget');
  if (changes.quietHours !== undefined) requirePerson(command.by, 'change quiet hours');
  requireOnLimit(command, member.onLimit);
  requireInnerKept(command, member);
  requireKnownFolder(command.by, changes.cwd, [member.cwd]);
  requireFreeKeys(command.by, 'member', { before: member.metadata, changes: changes.metadata });
  requireFit(`member ${member.id}`, member.metadata, changes.metadata);
  const events: TeamEvent[] = [];
  if (status === 'idle' && member.status !== 'idle') {
    events.push(event(command, 'teammate:idle', { memberId: member.id, reason, result }));
  }
  const newStatus = status !== 'idle' && status !== member.status ? status : undefined;
  const isChange = newStatus !== undefined || Object.values(changes).filter((value) => value !== undefined).length > 1;
  if (isChange) events.push(event(command, 'teammate:changed', { ...changes, status: newStatus }));
  return events;
}

/** Only a team file says what team a member is, and a member that is none does not become one while it runs. */
function requireInnerKept({ by, innerTeam }: CommandOf<'member.change'>, { id, agent }: MemberRecord): void {
  if (innerTeam === undefined) return;
  requirePerson(by, 'change the team that a member is');
  if (!agent?.team) throw new TeamError('conflict', `${id} is no team: it can become one when it joins again`);
}

export function leaveTeam(state: TeamState, command: CommandOf<'member.leave'>): TeamEvent[] {
  requireOpenTeam(state);
  requireManager(state, command.by, 'stop other members', command.memberId);
  const { hostId } = requireMember(state, command.memberId);
  if (command.hostId !== undefined && hostId !== undefined && hostId !== command.hostId) {
    throw new ClaimConflictError(`Member ${command.memberId} runs on ${hostId}, not on ${command.hostId}`);
  }
  // A member that was expected back can still be given up. Otherwise its reserved tasks would wait forever.
  const givenUp = requireMember(state, command.memberId).returning && !command.returning;
  if (!givenUp) requireLive(state, command.memberId);
  return stopMember(state, command, command.memberId, command);
}

/**
 * A member that stops releases its tasks, and those reserved for it unless it will return. What it handed in stays in
 * the merge queue, unless the team ends.
 */
export function stopMember(
  state: TeamState,
  command: CommandEnvelope,
  memberId: string,
  { reason, returning = false, isLast = false }: { reason?: string | undefined; returning?: boolean; isLast?: boolean },
): TeamEvent[] {
  const events = [event(command, 'teammate:stopped', { memberId, reason, returning: returning || undefined })];
  for (const taskId of assignedTo(state, memberId)) {
    const task = requireTask(state, taskId);
    const held = task.status === 'in_progress';
    if (held && !isLast && isHandedIn(task.work)) {
      events.push(...leaveWork(command, task));
      continue;
    }
    const epoch = task.epoch + (held ? 1 : 0);
    if (held) {
      events.push(
        ...withdrawWork(command, task, reason ?? `${memberId} stopped`),
        event(command, 'task:released', { taskId, memberId, epoch, reason: reason ?? `${memberId} stopped` }),
      );
    }
    if (task.reserved && !returning) events.push(event(command, 'task:assigned', { taskId, assigneeId: null, epoch }));
  }
  const ending = assignedTo(state, memberId)
    .map((taskId) => requireTask(state, taskId))
    .filter((task) => isLast || !isHandedIn(task.work));
  const unreviewed = isLast || returning ? [] : askInPlaceOf(state, command, memberId);
  return [...events, ...freeFiles(state, command, ending), ...unreviewed];
}

/** The members that can work, without the lead. */
export function liveTeammates(state: TeamState): MemberRecord[] {
  return [...state.members.values()].filter((member) => member.id !== state.team?.leadId && isExpected(member));
}

/** Spending always counts: a last turn is recorded even if the member has stopped or the team is closed. */
export function recordUsage(state: TeamState, command: CommandOf<'usage.record'>): TeamEvent[] {
  const { memberId, taskId, usage, context } = command;
  requireTeam(state);
  requireMember(state, memberId);
  if (command.by !== SYSTEM && command.by !== memberId) {
    requireOpenTeam(state);
    requireManager(state, command.by, 'record the usage of others');
  }
  const task = taskId === undefined ? undefined : requireTask(state, taskId, { deleted: true });
  if (command.inner !== undefined) return recordInner(command, command.inner, task);
  return [event(command, 'usage:recorded', { memberId, taskId, usage, context })];
}

/** Counts the total of a team inside a member once, even if it is reported again or a report was lost. */
function recordInner(command: CommandOf<'usage.record'>, inner: string, task: TaskRecord | undefined): TeamEvent[] {
  const { memberId, by } = command;
  if (by !== SYSTEM) throw new TeamError('not_allowed', `${by} may not count what team ${inner} used: only Troupe may`);
  if (task?.inner?.teamId !== inner || task.inner.memberId !== memberId) return [];
  const usage = subtractUsage(command.usage, task.inner.usage);
  return isNoUsage(usage) ? [] : [event(command, 'usage:recorded', { memberId, taskId: task.id, usage, inner })];
}

function nextColor(state: TeamState, memberId: string): string | undefined {
  return memberId === state.team?.leadId ? undefined : COLORS[(state.members.size - 1) % COLORS.length];
}

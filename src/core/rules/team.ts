import { requireTeamFile } from '../agent-kinds.ts';
import type { AgentChoice } from '../agent.ts';
import { isRaised } from '../budget.ts';
import type { CommandOf } from '../command.ts';
import { shortId } from '../commit-id.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { isSlug } from '../fields.ts';
import { workspaceOfNewMember } from '../folder.ts';
import { HOOKS_PER_TEAM, MESSAGES_PER_MINUTE, RESTARTS_PER_NIGHT } from '../limits.ts';
import { isExpected } from '../state.ts';
import type { TeamRecord, TeamState } from '../state.ts';
import { quote } from '../text.ts';
import { requireMember } from '../view.ts';
import { giveBack } from './give-back.ts';
import { requireFit, requireFreeKeys, requireLive, requireManager, requireOpenTeam, requirePerson } from './guard.ts';
import { withdrawWork } from './landing.ts';
import { liveTeammates, stopMember } from './member.ts';
import { requireOnLimit } from './on-limit.ts';
import { requireOthers, requirePeersKept } from './peers.ts';
import { requireNoSecretIn, requireNoSecrets } from './secret.ts';

export function createTeam(state: TeamState, command: CommandOf<'team.create'>): TeamEvent[] {
  if (state.team) throw new TeamError('exists', `Team ${state.teamId} exists: choose another name or use it`);
  if (command.name !== state.teamId) {
    throw new TeamError(
      'invalid',
      `Team ${quote(state.teamId)} cannot be created under the name ${command.name}: use one name for both`,
    );
  }
  // Team names become names of files and streams, so check them here even if a caller forgot to parse.
  if (!isSlug(command.name)) throw new TeamError('invalid', `${quote(command.name)} is not a valid team name`);
  requireNoSecrets(command.leadAgent, `the lead ${command.leadName}`);
  requireChoiceWithoutSecrets(command.agents);
  requireTeamFile(command.leadAgent);
  requireOnLimit(command);
  requireOthers(command.name, command.peers);
  return [
    event(command, 'team:created', {
      name: command.name,
      description: command.description,
      leadId: command.leadName,
      leadSessionId: command.leadSessionId,
      teammateMode: command.teammateMode,
      resolvedBackend: command.resolvedBackend,
      maxTeammates: command.maxTeammates,
      messagesPerMinute: command.messagesPerMinute,
      peers: command.peers,
      restartsPerNight: command.restartsPerNight,
      quietHours: command.quietHours,
      onLimit: command.onLimit,
      delegateMode: command.delegateMode,
      agents: command.agents,
      budget: command.budget,
      work: command.work,
      parent: command.parent,
      metadata: command.metadata,
    }),
    event(command, 'teammate:joined', {
      memberId: command.leadName,
      sessionId: command.leadSessionId,
      role: 'lead',
      agentType: command.leadAgentType,
      status: command.leadAgent ? 'spawning' : 'active',
      spawnPrompt: command.leadPrompt || undefined,
      planApprovalRequired: false,
      model: command.leadModel,
      host: command.leadHost,
      labels: command.leadLabels,
      cwd: command.cwd,
      workspace: workspaceOfNewMember(command.work, {
        agent: command.leadAgent,
        cwd: command.cwd,
        workspace: command.leadWorkspace,
      }),
      backendType: command.leadAgent ? 'subprocess' : 'in-process',
      agent: command.leadAgent,
    }),
  ];
}

export function updateTeam(state: TeamState, command: CommandOf<'team.update'>): TeamEvent[] {
  const team = requireOpenTeam(state);
  requireManager(state, command.by, 'change the team');
  if (command.leadId !== undefined) requireLive(state, command.leadId);
  requireLimitsKept(team, command);
  requirePeersKept(state, command);
  requireWorkKept(team, command);
  if (command.agents !== undefined) requirePerson(command.by, 'choose the agents that the lead may start');
  requireChoiceWithoutSecrets(command.agents);
  requireOnLimit(command);
  const { type: _type, at: _at, by: _by, commandId: _commandId, ...changes } = command;
  requireFreeKeys(command.by, 'team', { before: team.metadata, changes: changes.metadata });
  requireFit(`team ${state.teamId}`, team.metadata, changes.metadata);
  return [event(command, 'team:updated', changes)];
}

export function closeTeam(state: TeamState, command: CommandOf<'team.close'>): TeamEvent[] {
  requireOpenTeam(state);
  requireManager(state, command.by, 'close the team');
  const live = liveTeammates(state);
  if (live.length > 0 && !command.force) {
    const names = live.map((member) => member.id).join(', ');
    throw new TeamError('conflict', `Team ${state.teamId} has live teammates (${names}): shut them down first`, {
      facts: { option: { field: 'force', effect: 'close it anyway' } },
    });
  }
  const reason = 'team closed';
  const members = [...state.members.values()].filter(isExpected);
  // What members handed in before they stopped cannot land any more.
  const left = [...state.tasks.values()].filter(
    ({ status, assigneeId }) => status === 'in_progress' && !isExpected(requireMember(state, assigneeId as string)),
  );
  return [
    ...members.flatMap((member) => stopMember(state, command, member.id, { reason, isLast: true })),
    ...left.flatMap((task) => [...withdrawWork(command, task, reason), ...giveBack(state, command, task, reason)]),
    event(command, 'team:closed', {}),
  ];
}

/** Hooks run programs: only a person may add them. */
export function registerHook(state: TeamState, command: CommandOf<'hook.register'>): TeamEvent[] {
  const team = requireOpenTeam(state);
  requirePerson(command.by, 'register hooks');
  if (team.hooks.length >= HOOKS_PER_TEAM) {
    throw new TeamError('limit', `Team ${state.teamId} has ${HOOKS_PER_TEAM} hooks, the limit: remove some`);
  }
  requireNoSecretIn(command.hook.command, `the ${command.hook.type} hook`);
  return [event(command, 'hook:registered', { hook: command.hook })];
}

export function removeHook(state: TeamState, command: CommandOf<'hook.remove'>): TeamEvent[] {
  const team = requireOpenTeam(state);
  requirePerson(command.by, 'remove hooks');
  const { hookType } = command;
  return team.hooks.some((hook) => hook.type === hookType) ? [event(command, 'hook:removed', { hookType })] : [];
}

function requireChoiceWithoutSecrets(agents: AgentChoice = {}): void {
  for (const [name, agent] of Object.entries(agents)) requireNoSecrets(agent, `agent ${name}`);
}

/** What members did so far lies on the branch, so neither it nor its beginning can change. */
function requireWorkKept({ name, work: before }: TeamRecord, { work }: CommandOf<'team.update'>): void {
  if (!work || !before || (work.base === before.base && work.branch === before.branch)) return;
  throw new TeamError(
    'conflict',
    `Team ${name} began from ${shortId(before.base)} on ${before.branch}, and that cannot change: start it over, or choose another name`,
  );
}

/** Agents may tighten their own limits but not raise them. */
function requireLimitsKept(team: TeamRecord, command: CommandOf<'team.update'>): void {
  const { maxTeammates = 0, messagesPerMinute = 0, restartsPerNight = 0, budget } = command;
  if (budget && isRaised(team.budget, budget)) requirePerson(command.by, 'raise the budget');
  if (team.delegateMode && command.delegateMode === false) requirePerson(command.by, 'end delegate mode');
  if (maxTeammates > team.maxTeammates) requirePerson(command.by, 'raise maxTeammates');
  if (messagesPerMinute > (team.messagesPerMinute ?? MESSAGES_PER_MINUTE)) {
    requirePerson(command.by, 'raise messagesPerMinute');
  }
  if (restartsPerNight > (team.restartsPerNight ?? RESTARTS_PER_NIGHT)) {
    requirePerson(command.by, 'raise restartsPerNight');
  }
  if (command.quietHours !== undefined) requirePerson(command.by, 'change quiet hours');
}

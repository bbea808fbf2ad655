import { isDeepStrictEqual } from 'node:util';
import { USER } from '../../core/actor.ts';
import { decide } from '../../core/decide.ts';
import { TeamError } from '../../core/errors.ts';
import { evolve } from '../../core/evolve.ts';
import { folderOfWork } from '../../core/folder.ts';
import type { HookConfig } from '../../core/hook.ts';
import type { TeamParent } from '../../core/inner.ts';
import { JoinInput } from '../../core/member.ts';
import { parse } from '../../core/parse.ts';
import { createState } from '../../core/state.ts';
import type { TeamRecord, TeamState } from '../../core/state.ts';
import { settingsIn, withSettings } from '../../core/team-work.ts';
import type { TeamWork } from '../../core/team-work.ts';
import { CreateTeamInput } from '../../core/team.ts';
import type { Ledger, NewCommand } from '../../ledger/ledger.ts';
import type { NewTask } from '../hooks/team-hooks.ts';
import { agentNameOf, choiceOf, specIn } from './agents.ts';
import { budgetOf } from './budget-entries.ts';
import { budgetCommands, budgetFor } from './budgets.ts';
import { onLimitIn } from './fallbacks.ts';
import { folderIn } from './file-agents.ts';
import { hookCommands, hooksAfter, hooksOf } from './hooks.ts';
import { changedNight, nightCommands, nightOf } from './night.ts';
import { changedNotify, notifyToKeep } from './notify.ts';
import type { KeptNotify } from './notify.ts';
import { requirePlace } from './place.ts';
import type { Place } from './place.ts';
import type { TeamFile } from './schema.ts';
import { assignCommands, taskCommands } from './tasks.ts';

/** Hooks into `raiseTeam`. */
export interface RaiseOptions {
  /** Gets the hooks that the team will have and the tasks to create; throws to prevent all of it. */
  readonly judge?: (hooks: readonly HookConfig[], tasks: readonly NewTask[]) => Promise<void>;
  /**
   * Removes a closed team of that name before the new one starts. Without it, a closed team is refused; with it, an
   * open one.
   */
  readonly remove?: () => Promise<void>;
  /** How the members of a new team work apart; an existing team keeps its own, with these settings. */
  readonly work?: TeamWork | undefined;
  /** Of a team inside a member: for which task it works, and the folder in which members work that share one. */
  readonly inside?:
    | { readonly parent: TeamParent; readonly folder: string; readonly notify?: KeptNotify | undefined }
    | undefined;
}

/**
 * Brings a team to what its file says, in one step. A missing team is created. An existing one gets its missing members
 * and tasks, and the file's hooks and limits. Tasks are recognized by their id in the file. Tasks that it reserves for
 * a member that returns are reserved again. A team of another folder is refused. A closed team that it replaces is
 * removed last, when nothing can be refused.
 */
export async function raiseTeam(
  ledger: Ledger,
  file: TeamFile,
  place: Place,
  { judge, remove, work, inside }: RaiseOptions = {},
): Promise<void> {
  const look = () =>
    ledger.view(file.team, (found) => {
      requirePlace(found, place);
      const isOver = found.team?.status === 'cleaned-up';
      if (remove && found.team && !isOver) throw openError(file.team);
      const state = isOver && remove ? createState(file.team) : found;
      return {
        isOver,
        commands: commandsFor(state, file, { place, work, inside }),
        next: state.nextTask,
        hooks: hooksAfter(state.team?.hooks ?? [], hooksOf(file, place.folder), foldersOf(state.team, place)),
      };
    });
  const { isOver, commands, next, hooks } = await look();
  if (commands.length === 0) return;
  if (isOver) rehearse(file.team, commands);
  const created = commands.filter((command) => command.type === 'task.create');
  await judge?.(
    hooks,
    created.map(({ title, description }, i) => ({ taskId: String(next + i), title, description })),
  );
  // The numbers in the commands, and those that were judged, are right only if no task was created meanwhile.
  const now = await look();
  if (now.next !== next || now.isOver !== isOver) {
    throw new TeamError('conflict', `Somebody else changed team ${file.team} meanwhile: run troupe up again`);
  }
  if (isOver) await remove?.();
  await ledger
    .execute(file.team, commands, () => undefined)
    .catch((error: unknown) => {
      throw error instanceof TeamError && error.code === 'team_closed' ? closedError(file.team) : error;
    });
}

/** Refuses to go on with a closed team, and to start over an open one. */
export function requireBegin({ team }: TeamState, { again }: { readonly again: boolean }): void {
  if (!team) return;
  const isOver = team.status === 'cleaned-up';
  if (isOver && !again) throw closedError(team.id);
  if (!isOver && again) throw openError(team.id);
}

/** Throws the error with which a new team would refuse these commands. */
function rehearse(teamId: string, commands: readonly NewCommand[]): void {
  const state = createState(teamId);
  for (const command of commands) {
    for (const event of decide(state, { at: Date.now(), ...command })) evolve(state, event);
  }
}

function closedError(team: string): TeamError {
  return new TeamError(
    'team_closed',
    `Team ${team} was closed: start it over with troupe up --again, or choose another name`,
  );
}

/** Some people want to restart work that is stuck. Giving up running work takes an explicit command. */
function openError(team: string): TeamError {
  return new TeamError(
    'conflict',
    `Team ${team} is still open, so it cannot be started over: close it first with troupe down ${team}, or continue it with troupe up`,
  );
}

/** Where a team is started, and how its members work apart. */
interface Setting {
  readonly place: Place;
  readonly work: TeamWork | undefined;
  readonly inside?: RaiseOptions['inside'];
}

function commandsFor(state: TeamState, file: TeamFile, { place, work: wanted, inside }: Setting): NewCommand[] {
  const { folder } = inside ?? place;
  const { work: standing } = state.team ?? {};
  const work = standing && wanted ? { ...standing, repository: wanted.repository } : state.team ? standing : wanted;
  if (state.team?.status === 'cleaned-up') throw closedError(file.team);
  const joins = memberCommands(state, file, { folder, work });
  const back = new Set(joins.flatMap((command) => (command.type === 'member.join' ? command.name : [])));
  return [
    ...teamCommands(state, file, { place, work: wanted, inside }),
    ...joins,
    ...assignCommands(state, file, back),
    ...taskCommands(state, file),
  ];
}

function teamCommands(state: TeamState, file: TeamFile, { place, work, inside }: Setting): NewCommand[] {
  const { folder } = place;
  const hooks = hookCommands(state.team?.hooks ?? [], hooksOf(file, folder), foldersOf(state.team, place));
  if (state.team) {
    return [
      ...updateCommands(state.team, file, { place, work }),
      ...budgetCommands(state, file),
      ...nightCommands(state, file, state.team.leadId),
      ...innerCommands(state, file),
      ...hooks,
    ];
  }
  const lead = typeof file.lead === 'object' ? file.lead : undefined;
  const team = parse(CreateTeamInput, {
    name: file.team,
    description: file.description ?? '',
    cwd: folderFor(lead, { folder: inside?.folder ?? folder, work }),
    ...(lead?.workspace && { leadWorkspace: lead.workspace }),
    ...(lead?.name !== undefined && { leadName: lead.name }),
    leadAgentType: lead ? agentNameOf(lead.agent) : (file.lead ?? 'none'),
    ...(lead && { leadAgent: specIn(file, lead), leadPrompt: lead.prompt ?? file.description ?? '' }),
    ...(lead?.model !== undefined && { leadModel: lead.model }),
    ...(lead?.host !== undefined && { leadHost: lead.host }),
    ...(lead?.labels && { leadLabels: lead.labels }),
    agents: choiceOf(file),
    ...(file.budget && { budget: budgetOf(file.budget) }),
    ...(lead?.delegate !== undefined && { delegateMode: lead.delegate }),
    ...(file.mode && { teammateMode: file.mode }),
    maxTeammates: file.limits?.maxTeammates ?? Math.max(8, file.members.length),
    ...(file.limits?.messagesPerMinute !== undefined && { messagesPerMinute: file.limits.messagesPerMinute }),
    ...(file.peers && { peers: file.peers }),
    ...nightOf(file),
    metadata: { ...place, lead: lead ? 'agent' : (file.lead ?? 'none'), ...notifyToKeep(file, inside?.notify) },
  });
  const budget = lead?.budget && budgetOf(lead.budget);
  return [
    { type: 'team.create', by: USER, ...team, ...(work && { work }), ...(inside && { parent: inside.parent }) },
    ...(budget ? [{ type: 'member.change' as const, by: USER, memberId: team.leadName, budget }] : []),
    ...nightCommands(state, file, team.leadName),
    ...hooks,
  ];
}

/** The folders of hooks that come from the file: this one, and the team's earlier one. */
function foldersOf(team: TeamRecord | undefined, { folder }: Place): string[] {
  const before = team?.metadata?.['folder'];
  return typeof before === 'string' ? [folder, before] : [folder];
}

/** The limits of the file apply. */
function updateCommands(team: TeamRecord, file: TeamFile, { place, work }: Setting): NewCommand[] {
  const { maxTeammates = Math.max(team.maxTeammates, file.members.length), messagesPerMinute } = file.limits ?? {};
  const isHere = Object.entries(place).every(([key, value]) => team.metadata?.[key] === value);
  const notify = changedNotify(team, file);
  const changes = {
    ...((!isHere || 'notify' in notify) && { metadata: { ...(!isHere && place), ...notify } }),
    ...(team.status === 'shutting-down' && { status: 'active' as const }),
    ...(maxTeammates !== team.maxTeammates && { maxTeammates }),
    ...(messagesPerMinute !== undefined && messagesPerMinute !== team.messagesPerMinute && { messagesPerMinute }),
    ...changedPeers(team, file),
    ...changedNight(team, file),
    ...changedWork(team, work),
  };
  return Object.keys(changes).length > 0 ? [{ type: 'team.update', by: USER, ...changes }] : [];
}

/** A team writes only to teams that its file lists now. */
function changedPeers({ peers: before = [] }: TeamRecord, { peers = [] }: TeamFile): { peers?: string[] } {
  return isDeepStrictEqual(before, peers) ? {} : { peers };
}

/** The settings of a file apply, and the repository may have been moved; the beginning and the branch stay. */
function changedWork({ work: before }: TeamRecord, work: TeamWork | undefined): { work?: TeamWork } {
  if (!before || !work) return {};
  const next = { ...withSettings(before, settingsIn(work)), repository: work.repository };
  return isDeepStrictEqual(next, withSettings(before, settingsIn(before))) ? {} : { work: next };
}

/** A running member that is a team gets the present texts of its files, for its next task. */
function innerCommands(state: TeamState, file: TeamFile): NewCommand[] {
  return file.members.flatMap((entry): NewCommand[] => {
    const member = state.members.get(entry.name);
    const { team: innerTeam } = specIn(file, entry) ?? {};
    if (!member?.agent?.team || member.status === 'stopped' || !innerTeam) return [];
    if (isDeepStrictEqual(member.agent.team, innerTeam)) return [];
    return [{ type: 'member.change', by: USER, memberId: member.id, innerTeam }];
  });
}

/** The folder of a member: without one of its own, the team's folder as git names it. Links lead there, too. */
function folderFor(
  entry: { readonly cwd?: string | undefined } | undefined,
  { folder, work }: { folder: string; work: TeamWork | undefined },
): string {
  return work && entry?.cwd === undefined ? folderOfWork(work) : folderIn(folder, entry);
}

function memberCommands(
  state: TeamState,
  file: TeamFile,
  where: { folder: string; work: TeamWork | undefined },
): NewCommand[] {
  const lead = typeof file.lead === 'object' && state.team ? [{ ...file.lead, name: state.team.leadId }] : [];
  return [...lead, ...file.members]
    .filter(({ name }) => (state.members.get(name)?.status ?? 'stopped') === 'stopped')
    .map((member): NewCommand => {
      const join = parse(JoinInput, {
        name: member.name,
        role: member.role ?? (member.name === state.team?.leadId ? 'lead' : 'teammate'),
        prompt: member.prompt ?? '',
        ...(member.model !== undefined && { model: member.model }),
        planApprovalRequired: member.plan === 'required',
        agentType: agentNameOf(member.agent),
        cwd: folderFor(member, where),
        ...(member.workspace && { workspace: member.workspace }),
        backendType: ('backend' in member ? member.backend : undefined) ?? 'subprocess',
        status: 'spawning',
        ...(member.host !== undefined && { host: member.host }),
        ...(member.labels && { labels: member.labels }),
        agent: specIn(file, member),
        budget: budgetFor(state, member),
        quietHours: member.quietHours,
        onLimit: onLimitIn(file, member),
      });
      return { type: 'member.join', by: USER, ...join };
    });
}

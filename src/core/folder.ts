import { hasProcess, isNativeAgent } from './agent-kinds.ts';
import type { AgentSpec } from './agent.ts';
import type { HookConfig } from './hook.ts';
import type { TaskRecord, TeamState } from './state.ts';
import type { TeamWork } from './team-work.ts';
import type { WorkspaceKind } from './work.ts';

/** What determines a member's work folder. */
interface Placed {
  readonly cwd?: string | undefined;
  readonly agent?: AgentSpec | undefined;
  readonly workspace?: WorkspaceKind | undefined;
}

/** The work folder of a new member: the named one or, if a daemon runs the member, its lead's. */
export function folderOfNewMember({ cwd, agent }: Placed, lead: Placed | undefined): string | undefined {
  return cwd ?? (agent && lead?.cwd);
}

/** Where the team's folder is in the checkout. */
export function folderOfWork({ repository, prefix }: Pick<TeamWork, 'repository' | 'prefix'>): string {
  return prefix === '' ? repository : `${repository}/${prefix}`;
}

/** Where the team's folder is in a workspace. */
export function folderInWorkspace(workspace: string, { prefix }: Pick<TeamWork, 'prefix'>): string {
  return prefix === '' ? workspace : `${workspace}/${prefix}`;
}

/**
 * Where a new member of a team with workspaces works. A member with a folder of its own works there. Claude Code's own
 * teammates ask a person whether they may trust each new folder, so they share the team's, unless it is said otherwise.
 */
export function workspaceOfNewMember(
  work: Pick<TeamWork, 'repository' | 'prefix'> | undefined,
  { agent, cwd, workspace }: Placed,
): WorkspaceKind | undefined {
  if (!work || !agent) return undefined;
  if (workspace === 'shared' || (isNativeAgent(agent) && workspace !== 'own')) return 'shared';
  return cwd === undefined || cwd === folderOfWork(work) ? 'own' : 'shared';
}

/** Whether a member works in a workspace of its own. */
export function isApart({ team, members }: TeamState, memberId: string): boolean {
  return team?.work !== undefined && members.get(memberId)?.workspace === 'own';
}

/**
 * Whether the workspace of a member has its work for a task that it holds. A member that goes on with another task while
 * a person is asked about this one has that in its folder instead.
 */
export function isInFolderOf({ status, assigneeId, epoch, work }: TaskRecord, memberId: string): boolean {
  const isHeld = status === 'in_progress' && assigneeId === memberId;
  return isHeld && work?.memberId === memberId && work.epoch === epoch && work.aside === undefined;
}

/**
 * The work folder of a member: its folder in its own workspace (`apart`), if it has one here; else the named one. Without
 * a named one, a member with a process uses its team's folder (`own`).
 */
export function folderOfMember(
  member: Placed | undefined,
  own: string | undefined,
  apart?: string,
): string | undefined {
  if (member?.workspace === 'own' && apart !== undefined) return apart;
  return member?.cwd ?? (member?.agent && hasProcess(member.agent) ? own : undefined);
}

/**
 * Where a hook runs: in the folder that it names, else in the folder of the judged work, else in `fallback`. An
 * approval is for one folder, so an approved hook never follows the work; but it runs at the same place in the
 * workspace (`apart`) of the member whose work it judges.
 */
export function folderOfHook(
  { cwd, approved }: Pick<HookConfig, 'cwd' | 'approved'>,
  { work, fallback, apart }: { work?: string | undefined; fallback: string; apart?: Apart | undefined },
): string {
  const folder = cwd ?? (approved === undefined ? work : undefined) ?? fallback;
  if (!apart) return folder;
  const from = apart.folders.find((one) => isInside(folder, one));
  return from === undefined ? folder : `${apart.to}${folder.slice(from.length)}`;
}

/** Whether an absolute path is a folder, or is in it. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** A workspace in place of the team's folder, which may have several names. */
export interface Apart {
  readonly folders: readonly string[];
  readonly to: string;
}

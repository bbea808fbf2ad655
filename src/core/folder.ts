import { hasProcess } from './agent.ts';
import type { AgentSpec } from './agent.ts';
import type { HookConfig } from './hook.ts';

/** What determines a member's work folder. */
interface Placed {
  readonly cwd?: string | undefined;
  readonly agent?: AgentSpec | undefined;
}

/** The work folder of a new member: the named one or, if a daemon runs the member, its lead's. */
export function folderOfNewMember({ cwd, agent }: Placed, lead: Placed | undefined): string | undefined {
  return cwd ?? (agent && lead?.cwd);
}

/** The work folder of a member. Without a named one, a member with a process uses its team's folder (`own`). */
export function folderOfMember(member: Placed | undefined, own: string | undefined): string | undefined {
  return member?.cwd ?? (member?.agent && hasProcess(member.agent) ? own : undefined);
}

/**
 * Where a hook runs: in the folder that it names, else in the folder of the judged work, else in `fallback`. An
 * approval is for one folder, so an approved hook never follows the work.
 */
export function folderOfHook(
  { cwd, approved }: Pick<HookConfig, 'cwd' | 'approved'>,
  { work, fallback }: { work?: string | undefined; fallback: string },
): string {
  return cwd ?? (approved === undefined ? work : undefined) ?? fallback;
}

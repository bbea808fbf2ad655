import { hasProcess } from './agent.ts';
import type { AgentSpec } from './agent.ts';
import type { HookConfig } from './hook.ts';

/** What decides where a member works. */
interface Placed {
  readonly cwd?: string | undefined;
  readonly agent?: AgentSpec | undefined;
}

/** Where a new member is to work: in the folder that somebody names, else, if a daemon runs it, where its lead works. */
export function folderOfNewMember({ cwd, agent }: Placed, lead: Placed | undefined): string | undefined {
  return cwd ?? (agent && lead?.cwd);
}

/** Where a member works. If nobody named a folder and a daemon runs it, that is its team's own (`own`) on that machine. */
export function folderOfMember(member: Placed | undefined, own: string | undefined): string | undefined {
  return member?.cwd ?? (member?.agent && hasProcess(member.agent) ? own : undefined);
}

/**
 * Where a hook runs: in the folder that it names, else where the work is that it judges, else in `fallback`. An approval is
 * for one folder, so an approved hook never follows the work.
 */
export function folderOfHook(
  { cwd, approved }: Pick<HookConfig, 'cwd' | 'approved'>,
  { work, fallback }: { work?: string | undefined; fallback: string },
): string {
  return cwd ?? (approved === undefined ? work : undefined) ?? fallback;
}

import { z } from 'zod';
import { findDifferent, pickVariables } from '../core/variables.ts';
import type { TeamVariables } from '../core/variables.ts';
import type { TeamEnvironment } from '../runtime/team-environments.ts';
import { specsOf } from '../runtime/team-file/agents.ts';
import { startedOf } from '../runtime/team-file/fallbacks.ts';
import type { TeamFile } from '../runtime/team-file/schema.ts';
import { setupVariables } from '../runtime/team-file/setup.ts';
import type { DaemonService, Services } from './operation.ts';

/** The environment of the command that brings a team up. It goes into no journal. */
export const Environment = z
  .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(131_072))
  .optional()
  .describe('variables for its members and hooks, as team.check names them; by default those of the daemon');

/** Members that run with what an earlier command gave. */
export const Outdated = z
  .object({ members: z.array(z.string()), variables: z.array(z.string()) })
  .describe('running members that keep an earlier environment, and the variables that differ');

/** The names of variables that the teams of these files take. */
export function variablesIn(files: readonly TeamFile[], daemon: DaemonService): TeamVariables | undefined {
  return daemon.variablesOf?.(
    files.flatMap((file) => [...specsOf(file), ...startedOf(file, '/').map(({ spec }) => spec)]),
    files.flatMap((file) => [...Object.values(file.hooks ?? {}).flat(), setupVariables(file)]),
  );
}

/** What a command gives to the teams of these files: only what they take. */
export function givenTo(
  files: readonly TeamFile[],
  daemon: DaemonService,
  environment: z.output<typeof Environment>,
): TeamEnvironment | undefined {
  const variables = environment && variablesIn(files, daemon);
  if (!variables) return undefined;
  const patterns = [...variables.usual, ...variables.named];
  return { patterns, values: pickVariables(environment, patterns) };
}

/**
 * Raises a team with the environment of the command: its hooks judge new tasks before there is a team. If that fails,
 * the earlier environment stays. Returns which members keep an earlier one, since a process cannot change its own.
 */
export async function withEnvironment(
  { ledger, sessions, daemon: { environments } }: Pick<Services, 'ledger' | 'sessions' | 'daemon'>,
  { teamId, given }: { readonly teamId: string; readonly given: TeamEnvironment | undefined },
  raise: (keep: () => void) => Promise<void>,
): Promise<z.output<typeof Outdated> | undefined> {
  if (!given || !environments) {
    await raise(() => {});
    return undefined;
  }
  const before = environments.given(teamId);
  const variables = findDifferent(environments.of(teamId), environments.with(given));
  const exists = await ledger.view(teamId, ({ team }) => team !== undefined);
  const running = exists ? (await sessions.getSessionsByTeam(teamId)).filter(({ pid }) => pid !== undefined) : [];
  // A team that is started over is removed first, and its environment with it.
  const keep = (): void => environments.set(teamId, given);
  keep();
  try {
    await raise(keep);
  } catch (error) {
    environments.set(teamId, before);
    throw error;
  }
  if (running.length === 0 || variables.length === 0) return undefined;
  return { members: running.map(({ memberId }) => memberId), variables };
}

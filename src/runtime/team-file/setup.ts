import type { TeamSetup } from '../../core/team-work.ts';
import { hashSetup } from '../hooks/approvals.ts';
import { findObstacle } from '../hooks/obstacle.ts';
import { realPath } from './place.ts';
import type { TeamFile } from './schema.ts';
import { milliseconds } from './values.ts';

/** How long a setup may run if the file does not say: 15 minutes. Installing takes longer than judging. */
const TIMEOUT_MS = 15 * 60_000;

/** The setup of a file's workspaces, bound to its present content like a hook. */
export function setupOf(file: TeamFile, given: string): TeamSetup | undefined {
  const entry = file.work?.setup;
  if (entry === undefined) return undefined;
  // Another machine cannot look up where a link leads.
  const folder = realPath(given);
  const { command, timeout, env, sandbox } =
    typeof entry === 'string' ? ({ command: entry } as Exclude<typeof entry, string>) : entry;
  return {
    command,
    timeout: timeout === undefined ? TIMEOUT_MS : milliseconds(timeout),
    ...(env && { env }),
    ...(sandbox && { sandbox }),
    folder,
    approved: hashSetup({ command, env, sandbox }, folder),
  };
}

/** The names of the variables that a file's setup may see. */
export function setupVariables(file: TeamFile): { readonly env?: readonly string[] | undefined } {
  const entry = file.work?.setup;
  return typeof entry === 'object' ? { env: entry.env } : {};
}

/** A setup whose program is missing or not executable, with the fix. */
export function brokenSetup(setup: TeamSetup | undefined): { type: 'setup'; command: string; why: string }[] {
  if (!setup) return [];
  const { command, folder } = setup;
  const why = findObstacle({ ...setup, executor: 'shell' }, folder);
  return why === undefined ? [] : [{ type: 'setup', command, why }];
}

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { AgentRow } from './row.ts';
import { findUserHome } from './user-home.ts';

/** Whether somebody has logged in to an agent. Without a file or a variable that shows it, most agents leave it open. */
export type LoginState = 'found' | 'none' | 'unknown';

/** Looks for a login by the names of files and variables; nothing is read. */
export function loginStateOf(
  { login, clouds = [] }: Pick<AgentRow, 'login' | 'clouds'>,
  env: Readonly<Record<string, string | undefined>>,
): LoginState {
  if (!login) return 'unknown';
  const { keys, folder, stored } = login;
  if ([...keys, ...clouds.map(({ chosenBy }) => chosenBy)].some((name) => env[name])) return 'found';
  const place = resolve(env[folder.variable] || join(findUserHome(env), folder.fallback));
  if (stored.files.some((file) => existsSync(join(place, file)))) return 'found';
  return stored.isAll ? 'none' : 'unknown';
}

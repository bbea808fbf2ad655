import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { BackendType } from '../core/member.ts';
import type { TeammateMode } from '../core/team.ts';

/** Where teammates can be shown: in panes of the terminal that this process (or the environment's) runs in, or nowhere. */
export function detectBackend(
  mode: TeammateMode,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): BackendType {
  if (mode === 'in-process') return 'in-process';
  if (mode !== 'iterm2' && isInsideTmux(environment)) return 'tmux';
  if (isITerm2WithIt2(environment)) return 'iterm2';
  return 'in-process';
}

function isInsideTmux(environment: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(environment['TMUX']);
}

function isITerm2WithIt2(environment: Readonly<Record<string, string | undefined>>): boolean {
  const inside = environment['TERM_PROGRAM'] === 'iTerm.app' || Boolean(environment['ITERM_SESSION_ID']);
  return inside && isOnPath('it2', environment['PATH']);
}

/** Whether a program can be run by its name. */
function isOnPath(program: string, path: string | undefined): boolean {
  return (path ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}

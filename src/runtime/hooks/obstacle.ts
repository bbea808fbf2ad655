import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { HookResult } from '../../core/hook.ts';
import { shellWord } from '../../core/shell.ts';
import { isFolder } from './hook-files.ts';
import type { HookText } from './hook-files.ts';

/** A path that means nothing else to a shell. */
const PATH = String.raw`(?:\.{0,2}\/)?[\w.@+-]+(?:\/[\w.@+-]+)*`;
const PROGRAM = new RegExp(`^(${PATH})(?=\\s|$)`);
const SCRIPT = new RegExp(`^(?:sh|bash|zsh|node|python3?|ruby|perl)\\s+(${PATH}\\.\\w+)(?=\\s|$)`);

/** What a shell ends with that found no program, or none that it may run. */
const NOT_RUN = [126, 127];

/** The words of the shell that we started; one further down, as npm starts them, calls itself otherwise. */
const SHELL_SAID = /^\/bin\/sh: (?:(?:line )?\d+: )?(.+: .+)$/m;

/**
 * Why a hook cannot be run, and what mends it; undefined where nothing is known to be in the way. Only a command that plainly names
 * a file is looked at: what a shell makes of others is its business.
 */
export function findObstacle({ command, executor }: HookText, cwd: string): string | undefined {
  const text = command.trim();
  if (!isFolder(cwd)) return `its folder ${cwd} is not there`;
  if (executor === 'node') return missing(text, cwd);
  const [, script] = SCRIPT.exec(text) ?? [];
  if (script !== undefined) return missing(script, cwd);
  const [, program] = PROGRAM.exec(text) ?? [];
  if (program === undefined || !program.includes('/')) return undefined;
  return missing(program, cwd) ?? notExecutable(program, cwd);
}

/** What the shell said that found nothing to run; undefined where the hook ran. */
export function whyNotRun({ code, stderr }: HookResult): string | undefined {
  const said = NOT_RUN.includes(code ?? 0) ? SHELL_SAID.exec(stderr)?.[1] : undefined;
  return said === undefined ? undefined : `the shell says ${said.slice(0, 500)}`;
}

function missing(path: string, cwd: string): string | undefined {
  const found = statSync(resolve(cwd, path), { throwIfNoEntry: false });
  if (found?.isFile()) return undefined;
  return found
    ? `${path} is no file`
    : `${path} is not there: put it into ${cwd}, or change the hook and say troupe up`;
}

function notExecutable(path: string, cwd: string): string | undefined {
  try {
    accessSync(resolve(cwd, path), constants.X_OK);
    return undefined;
  } catch {
    return `${path} may not be executed: chmod +x ${shellWord(resolve(cwd, path))}`;
  }
}

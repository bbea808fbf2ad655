import { resolve } from 'node:path';
import { faultOf, findScript } from '../../agents/program.ts';
import type { HookResult, HookType } from '../../core/hook.ts';
import { shellWord } from '../../core/shell.ts';
import { quote } from '../../core/text.ts';
import { isFolder } from './hook-files.ts';
import type { HookText } from './hook-files.ts';

/** What a shell ends with that found no program, or none that it may run. */
const NOT_RUN = [126, 127];

/** The words of the shell that we started; one further down, as npm starts them, calls itself otherwise. */
const SHELL_SAID = /^\/bin\/sh: (?:(?:line )?\d+: )?(.+: .+)$/m;

/** What of a hook says whether it can be run; one of a team file is changed there, and bound to its content. */
type Obstructed = HookText & { readonly approved?: string | undefined };

/** A hook that cannot be run, and why, in words. */
export function describeBroken({ type, command, why }: { type: HookType; command: string; why: string }): string {
  return `the ${type} hook ${quote(command)} cannot be run: ${why}`;
}

/**
 * Why a hook cannot be run, and what mends it; undefined where nothing is known to be in the way. Only a command that plainly names
 * a file is looked at: what a shell makes of others is its business.
 */
export function findObstacle({ command, executor, approved }: Obstructed, cwd: string): string | undefined {
  const text = command.trim();
  if (!isFolder(cwd)) return `its folder ${cwd} is not there`;
  const script = executor === 'node' ? { path: text, isRead: true } : findScript(text);
  const fault = script && faultOf(resolve(cwd, script.path), script);
  if (!script || !fault) return undefined;
  const { path } = script;
  if (fault === 'missing') {
    const change = approved === undefined ? '' : ', or change the hook and say troupe up';
    return `${path} is not there: put it into ${cwd}${change}`;
  }
  if (fault === 'no file') return `${path} is no file`;
  return `${path} may not be executed: chmod +x ${shellWord(resolve(cwd, path))}`;
}

/** What the shell said that found nothing to run; undefined where the hook ran. */
export function whyNotRun({ code, stderr }: HookResult): string | undefined {
  const said = NOT_RUN.includes(code ?? 0) ? SHELL_SAID.exec(stderr)?.[1] : undefined;
  return said === undefined ? undefined : `the shell says ${said.slice(0, 500)}`;
}

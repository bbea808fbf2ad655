import { resolve } from 'node:path';
import { faultOf, findScript } from '../../agents/program.ts';
import { findSandbox } from '../../agents/sandbox/able.ts';
import type { HookConfig, HookResult, HookType } from '../../core/hook.ts';
import { sandboxOf } from '../../core/sandbox.ts';
import { shellWord } from '../../core/shell.ts';
import { quote } from '../../core/text.ts';
import { isFolder } from './hook-files.ts';
import type { HookText } from './hook-files.ts';

/** Exit codes of a shell that found no program, or none that it may run. */
const NOT_RUN: readonly (number | undefined)[] = [126, 127];

/** A message of the shell that we started; a shell further down, as npm starts it, calls itself something else. */
const SHELL_SAID = /^\/bin\/sh: (?:(?:line )?\d+: )?(.+: .+)$/m;

/**
 * The parts of a hook that show whether it can run. `approved`: it comes from a team file and is bound to its content.
 */
type Obstructed = HookText & Pick<HookConfig, 'approved' | 'sandbox'>;

/** Says in words that a hook cannot run, and why. */
export function describeBroken(broken: { type: HookType | 'setup'; command: string; why: string }): string {
  const { type, command, why } = broken;
  return `the ${type === 'setup' ? 'setup' : `${type} hook`} ${quote(command)} cannot be run: ${why}`;
}

/**
 * Why a hook cannot run and how to fix it; undefined if no obstacle is known. Checks only a command that plainly names
 * a file: what a shell makes of other commands is its own business.
 */
export function findObstacle({ command, executor, approved, sandbox }: Obstructed, cwd: string): string | undefined {
  const text = command.trim();
  if (!isFolder(cwd)) return `its folder ${cwd} does not exist`;
  const able = sandboxOf(sandbox) && findSandbox(process.env);
  if (able?.why !== undefined) return `there is no sandbox here: ${able.why}; ${able.next}`;
  const script = executor === 'node' ? { path: text, isRead: true } : findScript(text);
  const fault = script && faultOf(resolve(cwd, script.path), script);
  if (!script || !fault) return undefined;
  const { path } = script;
  if (fault === 'missing') {
    const change = approved === undefined ? '' : ', or change the hook and run troupe up';
    return `${path} does not exist: put it into ${cwd}${change}`;
  }
  if (fault === 'no file') return `${path} is not a file`;
  return `${path} is not executable: chmod +x ${shellWord(resolve(cwd, path))}`;
}

/** The message of a shell that found nothing to run; undefined if the hook ran. */
export function whyNotRun({ code, stderr }: HookResult): string | undefined {
  const said = NOT_RUN.includes(code) ? SHELL_SAID.exec(stderr)?.[1] : undefined;
  return said === undefined ? undefined : `the shell reports: ${said.slice(0, 500)}`;
}

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { TeamError } from '../core/errors.ts';
import { shellWord } from '../core/shell.ts';

/** Where programs are searched. */
export interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The file of a program, as the system would find it; undefined if there is none. */
export function findProgram(program: string, { cwd, env }: Place): string | undefined {
  const places = program.includes('/')
    ? [resolve(cwd, program)]
    : (env['PATH'] ?? '').split(delimiter).map((folder) => resolve(cwd, folder, program));
  return places.find(isExecutable);
}

/**
 * Refuses a program that cannot run, before any work is taken, not when the first task fails. Without `cwd`, its folder
 * does not exist yet.
 */
export function requireProgram(
  program: string,
  { cwd, env }: Pick<Place, 'env'> & { readonly cwd: string | undefined },
  install?: string,
): void {
  const fail = (why: string, remedy = install): never => {
    const next = remedy === undefined ? '' : `; ${remedy}`;
    throw new TeamError('invalid', `Cannot run ${program}${cwd === undefined ? '' : ` in ${cwd}`}: ${why}${next}`);
  };
  if (cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    fail('there is no such folder', 'create it, or name another');
  }
  if (findProgram(program, { cwd: cwd ?? '/', env })) return;
  if (!program.includes('/')) fail('it is not on the PATH');
  const path = resolve(cwd ?? '/', program);
  fail(describeFault(faultOf(path) ?? 'missing', path));
}

/**
 * Refuses a shell command that plainly names a file that cannot run. Otherwise the shell would report it task by task.
 */
export function requireScript(command: string, cwd: string): void {
  const script = findScript(command);
  const path = resolve(cwd, script?.path ?? '');
  const fault = script && faultOf(path, script);
  if (!script || !fault) return;
  throw new TeamError('invalid', `Cannot run ${script.path} in ${cwd}: ${describeFault(fault, path)}`);
}

/** Why a file cannot run. */
export type Fault = 'missing' | 'no file' | 'not executable';

/** What is wrong with a file that should run, or that an interpreter should read. */
export function faultOf(path: string, { isRead = false } = {}): Fault | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isFile()) return found ? 'no file' : 'missing';
    if (!isRead) accessSync(path, constants.X_OK);
    return undefined;
  } catch {
    return 'not executable';
  }
}

/** A path without a special meaning to a shell. */
const PATH = String.raw`(?!-)(?:\.{0,2}\/)?[\w.@+-]+(?:\/[\w.@+-]+)*`;
const PROGRAM = new RegExp(`^(${PATH})(?=\\s|$)`);
const READ = new RegExp(`^(?:sh|bash|zsh|node|python3?|ruby|perl)\\s+(${PATH}\\.\\w+)(?=\\s|$)`);

/**
 * The file that a shell command plainly names, to run or for an interpreter to read. Other commands are the shell's
 * business.
 */
export function findScript(command: string): { readonly path: string; readonly isRead: boolean } | undefined {
  const text = command.trim();
  const [, read] = READ.exec(text) ?? [];
  if (read !== undefined) return { path: read, isRead: true };
  const [, path] = PROGRAM.exec(text) ?? [];
  return path?.includes('/') ? { path, isRead: false } : undefined;
}

function describeFault(fault: Fault, path: string): string {
  if (fault === 'missing') return 'there is no such file';
  return fault === 'no file' ? 'it is not a file' : `it is not executable; chmod +x ${shellWord(path)}`;
}

function isExecutable(path: string): boolean {
  return faultOf(path) === undefined;
}

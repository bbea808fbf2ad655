import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { TeamError } from '../core/errors.ts';

/** Where programs are looked for. */
export interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The file that a program's name stands for, as the system would find it; nothing where there is none. */
export function findProgram(program: string, { cwd, env }: Place): string | undefined {
  const places = program.includes('/')
    ? [resolve(cwd, program)]
    : (env['PATH'] ?? '').split(delimiter).map((folder) => resolve(cwd, folder, program));
  return places.find(isExecutable);
}

/** Refuses what cannot be run: said before any work is taken, not when the first task fails. Without a folder, it works in one that is yet to be made. */
export function requireProgram(
  program: string,
  { cwd, env }: Pick<Place, 'env'> & { readonly cwd: string | undefined },
  install?: string,
): void {
  const fail = (why: string): never => {
    const next = install === undefined ? '' : `; ${install}`;
    throw new TeamError('invalid', `Cannot run ${program}${cwd === undefined ? '' : ` in ${cwd}`}: ${why}${next}`);
  };
  if (cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) fail('there is no such folder');
  if (findProgram(program, { cwd: cwd ?? '/', env })) return;
  fail(program.includes('/') ? 'it is no executable file' : 'it is not on the PATH');
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

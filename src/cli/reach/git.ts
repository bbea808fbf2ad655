import { spawn, spawnSync } from 'node:child_process';
import { writeSync } from 'node:fs';
import { withoutPlace } from '../../workspaces/users-git.ts';
import type { Said } from '../../workspaces/users-git.ts';
import { Refusal } from '../show/errors.ts';

/** Runs a git command. With `trim: false`, the output is left as it is. */
export type UserGit = (args: readonly string[], options?: { readonly trim?: boolean }) => Said;

/** The user's own git, in a folder. */
export function gitIn(folder: string, environment: NodeJS.ProcessEnv): UserGit {
  return runner(['-C', folder], environment);
}

/** The user's own git, with a git directory and no folder. */
export function gitAt(directory: string, environment: NodeJS.ProcessEnv): UserGit {
  return runner([`--git-dir=${directory}`], environment);
}

function runner(where: readonly string[], environment: NodeJS.ProcessEnv): UserGit {
  return (args, { trim = true } = {}) => {
    const done = spawnSync('git', [...where, ...args], {
      env: withoutPlace(environment),
      encoding: 'utf8',
      maxBuffer: 1024 * 1024 * 1024,
    });
    if (done.error) throw new Refusal('unsupported', `git cannot be run: ${done.error.message}`);
    const out = trim ? done.stdout.trim() : done.stdout;
    const said = [out.trim(), done.stderr.trim()].filter(Boolean).join('\n');
    return { code: done.status ?? 1, out, said, ...(done.signal && { endedBy: done.signal }) };
  };
}

/** Writes a head and the output of a git command to an open file, however large it is. */
export async function streamGit(
  directory: string,
  environment: NodeJS.ProcessEnv,
  { args, file, head }: { readonly args: readonly string[]; readonly file: number; readonly head: string },
): Promise<void> {
  if (head !== '') writeSync(file, head);
  const child = spawn('git', [`--git-dir=${directory}`, ...args], {
    env: withoutPlace(environment),
    stdio: ['ignore', file, 'pipe'],
  });
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (complaint += chunk));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once('error', reject);
  // Without a code, the reader is gone, as `head` is when it has enough lines.
  child.once('close', (code) => resolve(code ?? 0));
  const code = await promise.catch((error: unknown) => {
    throw new Refusal('unsupported', `git cannot be run: ${(error as Error).message}`);
  });
  if (code !== 0) throw new Refusal('conflict', `git could not make the patch. It said:\n${complaint.trim()}`);
}

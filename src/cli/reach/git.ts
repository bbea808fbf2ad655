import { spawnSync } from 'node:child_process';
import { Refusal } from '../show/errors.ts';

/** What a git command answered. */
export interface Said {
  readonly code: number;
  readonly out: string;
  /** Both outputs, for people. */
  readonly said: string;
}

/** The user's own git, in a folder. */
export function gitIn(folder: string, environment: NodeJS.ProcessEnv): (args: readonly string[]) => Said {
  return (args) => {
    const done = spawnSync('git', ['-C', folder, ...args], {
      env: environment,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    if (done.error) throw new Refusal('unsupported', `git cannot be run: ${done.error.message}`);
    const out = done.stdout.trim();
    return { code: done.status ?? 1, out, said: [done.stderr.trim(), out].filter(Boolean).join('\n') };
  };
}

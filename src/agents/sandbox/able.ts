import { spawnSync } from 'node:child_process';
import { TeamError } from '../../core/errors.ts';
import type { Variables } from '../../core/variables.ts';
import { findProgram } from '../program.ts';
import { bubblewrapTrial } from './bubblewrap.ts';

/** Whether programs can run in a sandbox here: by which program, or why not and what to do. */
export type Able =
  | { readonly program: string; readonly why?: undefined; readonly next?: undefined }
  | { readonly program?: undefined; readonly why: string; readonly next: string };

/** How long the trial may take. */
const TRIAL_MS = 20_000;

const works = new Map<string, Able>();

/** Tries a sandbox. What works once is not tried again in this process. */
export function findSandbox(env: Variables): Able {
  const name = process.platform === 'darwin' ? 'sandbox-exec' : 'bwrap';
  if (process.platform !== 'linux' && process.platform !== 'darwin') {
    return { why: `there is none for ${process.platform}`, next: 'use a container or a virtual machine' };
  }
  const program = findProgram(name, { cwd: '/', env: { PATH: env['PATH'] ?? '/usr/bin:/bin' } });
  if (program === undefined) {
    return { why: `${name} is not on the PATH`, next: 'install bubblewrap, such as with apt-get install bubblewrap' };
  }
  const known = works.get(program);
  if (known) return known;
  const trial =
    process.platform === 'darwin' ? ['-p', '(version 1)(allow default)', '/usr/bin/true'] : bubblewrapTrial();
  const { status, stderr, error } = spawnSync(program, trial, { encoding: 'utf8', timeout: TRIAL_MS, env: {} });
  if (status !== 0) return explain(program, (error?.message ?? stderr).trim());
  const able = { program };
  works.set(program, able);
  return able;
}

/** The program that makes sandboxes here. A sandbox that was asked for is never left out. */
export function requireSandbox(env: Variables): string {
  const { program, why, next } = findSandbox(env);
  if (program !== undefined) return program;
  throw new TeamError('invalid', `There is no sandbox here: ${why}; ${next}`);
}

/** What a failed trial means. */
function explain(program: string, said: string): Able {
  const why = `${program} cannot make a sandbox here${said === '' ? '' : `: ${said}`}`;
  if (/namespace|Operation not permitted|Permission denied|uid map|RTM_NEWADDR/i.test(said)) {
    const next =
      'allow user namespaces: sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, or on Ubuntu ' +
      'kernel.apparmor_restrict_unprivileged_userns=0; in a container, start it with the right to make them';
    return { why, next };
  }
  return { why, next: `try it: ${program} --ro-bind / / --unshare-all true` };
}

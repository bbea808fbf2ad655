import { spawnSync } from 'node:child_process';
import { areAgentsWhole, noteAgentsWhole } from '../test/agents/installed.ts';

/**
 * Installs the programs of a folder with a manifest of its own, if they are not there yet; says whether they are there then. No install
 * scripts: some of them would build, one may download.
 */
export function installAgents(folder: string, what: string): boolean {
  if (areAgentsWhole(folder)) return true;
  console.log(`Installing ${what}.`);
  const { status, stderr, error } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 600_000,
  });
  if (status === 0) {
    noteAgentsWhole(folder);
    return true;
  }
  const why = error?.message ?? /npm error (?!code|errno|syscall)(.*)/.exec(stderr)?.[1] ?? 'it took too long';
  console.warn(`The agents could not be installed (${why}): their tests are skipped. Next time it is tried again.`);
  return false;
}

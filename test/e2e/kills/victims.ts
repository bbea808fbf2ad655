import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { MARKER } from '../../../src/agents/process.ts';
import type { Home } from '../../../src/client/home.ts';

/** What is killed. `git`: a command of the daemon. `program`: an agent, its children, its git; a setup. */
export const VICTIMS = ['daemon', 'member', 'program', 'git'] as const;
export type Victim = (typeof VICTIMS)[number];

/** A process that may be killed. */
export interface Target {
  readonly pid: number;
  readonly victim: Exclude<Victim, 'daemon'>;
  readonly command: string;
}

/** All processes of a state directory but its daemons. */
export function findTargets({ directory }: Home): Target[] {
  return readdirSync('/proc').flatMap((name): Target[] => {
    const pid = Number(name);
    if (!(pid > 0) || pid === process.pid) return [];
    const command = read(pid, 'cmdline').replaceAll('\0', ' ').trim();
    // A process that has ended, a spare daemon, or what a program leaves behind, which does nothing.
    if (command === '' || /spare-daemon|^sleep 600$/.test(command)) return [];
    const variables = read(pid, 'environ').split('\0');
    const isGit = variables.some((one) => one.startsWith(`${MARKER}=git-`));
    // Git has an environment of its own, without the state directory, but works below it.
    const isHere = isGit
      ? variables.some((one) => one.startsWith(`GIT_DIR=${directory}/`))
      : variables.includes(`TROUPE_HOME=${directory}`);
    if (!isHere) return [];
    const victim = isGit ? 'git' : command.includes(' --teammate ') ? 'member' : 'program';
    return [{ pid, victim, command }];
  });
}

/** One process of a kind; undefined if there is none for a while. Git runs for milliseconds. */
export async function findTarget(
  home: Home,
  victim: Target['victim'],
  random: () => number,
): Promise<Target | undefined> {
  const enough = performance.now() + (victim === 'git' ? 1_500 : 200);
  do {
    const found = findTargets(home).filter((one) => one.victim === victim);
    if (found.length > 0) return found[Math.floor(random() * found.length)];
    await sleep(2);
  } while (performance.now() < enough);
  return undefined;
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

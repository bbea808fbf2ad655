import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { MARKER } from '../../../src/agents/process.ts';
import type { Home } from '../../../src/client/home.ts';

/** What is killed. `git`: a command of the daemon. `program`: an agent, its children, its git. */
export const VICTIMS = ['daemon', 'member', 'program', 'setup', 'git'] as const;
export type Victim = (typeof VICTIMS)[number];

/** A process that may be killed. */
export interface Target {
  readonly pid: number;
  readonly victim: Exclude<Victim, 'daemon'>;
  readonly command: string;
}

/**
 * When a process was first seen to be none of ours. Reading all of `/proc` takes longer than git lives, so later only
 * new processes are read.
 */
const foreign = new Map<number, number>();

/** After a fork, a process has the name of its parent for a moment. */
const FORK_MS = 100;

/** All processes of a state directory but its daemons. */
export function findTargets(home: Home): Target[] {
  const now = performance.now();
  const pids = readdirSync('/proc').flatMap((name) => (Number(name) > 0 ? Number(name) : []));
  const present = new Set(pids);
  // Numbers are used again.
  for (const pid of foreign.keys()) if (!present.has(pid)) foreign.delete(pid);
  return pids.flatMap((pid): Target[] => {
    if (pid === process.pid || now - (foreign.get(pid) ?? now) > FORK_MS) return [];
    const found = readTarget(home, pid);
    if (found) foreign.delete(pid);
    else foreign.set(pid, foreign.get(pid) ?? now);
    return found ? [found] : [];
  });
}

function readTarget({ directory }: Home, pid: number): Target | undefined {
  const command = read(pid, 'cmdline').replaceAll('\0', ' ').trim();
  // A process that has ended, a spare daemon, or what a program leaves behind, which does nothing.
  if (command === '' || /spare-daemon|^sleep 600$/.test(command)) return undefined;
  const variables = read(pid, 'environ').split('\0');
  const isGit = variables.some((one) => one.startsWith(`${MARKER}=git-`));
  // Git has an environment of its own, without the state directory, but works below it.
  const isHere = isGit
    ? variables.some((one) => one.startsWith(`GIT_DIR=${directory}/`))
    : variables.includes(`TROUPE_HOME=${directory}`);
  if (!isHere) return undefined;
  if (isGit) return { pid, victim: 'git', command };
  if (command.includes(' --teammate ')) return { pid, victim: 'member', command };
  // A setup has no task.
  const isSetup = !variables.some((one) => one.startsWith('TROUPE_TASK_ID='));
  return { pid, victim: isSetup ? 'setup' : 'program', command };
}

/** What a process does, for people: of git, which command. */
export function nameTarget({ victim, command }: Target): string {
  const words = command.split(' ').slice(1);
  const isSetting = (word: string, i: number): boolean => word === '-c' || words[i - 1] === '-c';
  return victim === 'git' ? `git ${words.find((word, i) => !isSetting(word, i))}` : victim;
}

/** Commands of git that write. Most of what it does only reads, and a kill does no harm there. */
const WRITES = / (?:fast-import|update-index|write-tree|read-tree|commit-tree|update-ref|pack-objects|fetch) ?/;

/** One process of a kind; undefined if there is none for a while. Git runs for milliseconds. */
export async function findTarget(
  home: Home,
  victim: Target['victim'],
  random: () => number,
): Promise<Target | undefined> {
  const isWanted = victim === 'git' && random() < 0.7 ? WRITES : /(?:)/;
  const enough = performance.now() + 1_500;
  do {
    const found = findTargets(home).filter((one) => one.victim === victim && isWanted.test(one.command));
    if (found.length > 0) return found[Math.floor(random() * found.length)];
    await sleep(1);
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

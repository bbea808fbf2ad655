import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { SeenProcess } from '../agents/process-table.ts';
import { identify, isThere, TABLE } from '../agents/process.ts';
import { TeamError } from '../core/errors.ts';
import { quote } from '../core/text.ts';
import { findNativeRoot, listedPaths } from './layout.ts';
import { keeperOf } from './mirror/presence/signature.ts';
import { move } from './move.ts';
import { closedFolders } from './read-only.ts';
import type { NativeTeam } from './snapshot.ts';

/** Whether a native team is left over, and why. */
export interface Leftover {
  readonly name: string;
  readonly kind: 'team' | 'session';
  readonly dead: boolean;
  /** The evidence in words, for the person who decides. */
  readonly evidence: readonly string[];
  readonly changedAt: number;
  readonly tasks: number;
  readonly members: number;
}

/** A team that changed within this time is never called dead: an agent may just be thinking. */
const QUIET_MS = 60 * 60_000;

/** Judges teams by their processes and their age. */
export function findLeftovers(
  teams: readonly NativeTeam[],
  options: { now: number; quiet?: number; root?: string },
): Leftover[] {
  const { root } = options;
  const processes = TABLE.all().filter(({ pid }) => root === undefined || mayUse(pid, root));
  return teams.map((team) => judge(team, processes, options));
}

/** Moves a dead team into a folder of the trash and returns that folder. Refuses a live team; deletes nothing. */
export function moveToTrash(root: string, leftover: Leftover, trash: string): string {
  const { name, dead, evidence } = leftover;
  if (!dead) {
    throw new TeamError('conflict', `The native team ${quote(name)} is not a leftover: ${evidence.join('; ')}`);
  }
  const paths = listedPaths(root, name);
  const stamp = new Date().toISOString().replaceAll(':', '-');
  const folder = join(trash, `${stamp}-${name.slice(0, 100)}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [path, kind] of [
    [paths.team, 'teams'],
    [paths.tasks, 'tasks'],
  ] as const) {
    if (!existsSync(path)) continue;
    mkdirSync(join(folder, kind), { mode: 0o700 });
    move(path, join(folder, kind, name));
  }
  return folder;
}

/** Whether any visible process is a member of a native team. */
export function hasProcesses(name: string): boolean {
  return TABLE.all().some(({ words }) => words[words.indexOf('--team-name') + 1] === name && words.includes(name));
}

/** Whether the lead's process still runs, as a newer version records it; undefined if we cannot tell from here. */
export function leadLives(team: NativeTeam): boolean | undefined {
  const lead = team.config?.leadProcess;
  if (!lead || (lead.pidSpace !== undefined && lead.pidSpace !== pidSpace())) return undefined;
  // Elsewhere Claude Code writes start times in a form of its own.
  if (process.platform !== 'linux') return isThere(lead.pid);
  const { startTime } = identify(lead.pid);
  return startTime !== '' && (lead.procStart === undefined || lead.procStart === startTime);
}

function judge(
  team: NativeTeam,
  processes: readonly SeenProcess[],
  { now, quiet = QUIET_MS, root }: { now: number; quiet?: number; root?: string },
) {
  const evidence: string[] = [];
  let dead = true;
  const alive = (why: string): void => {
    dead = false;
    evidence.push(why);
  };
  const age = now - team.changedAt;
  const lasts = `last change ${new Date(team.changedAt).toISOString()}`;
  // A folder that we may not read has no known age or members, and half a team is never moved.
  const closed = root === undefined ? [] : [...closedFolders(listedPaths(root, team.name)).values()];
  for (const why of closed) alive(why);
  if (team.changedAt === 0) alive('its last change is unknown');
  else if (age < quiet) alive(`${lasts}, less than ${Math.round(quiet / 60_000)} minutes ago`);
  else evidence.push(lasts);

  const lead = team.config?.leadProcess;
  const lives = leadLives(team);
  if (lives) alive(`its lead runs (process ${lead?.pid})`);
  else if (lives === false) evidence.push(`its lead's process ${lead?.pid} is gone`);
  else if (lead) alive(`its lead ran on another machine or in a container (${lead.pidSpace})`);

  const keeper = team.config && keeperOf(team.config);
  if (keeper !== undefined) alive(`it is joined: ${keeper}`);

  const own = processes.filter(({ words }) => mentions(words, team));
  for (const { pid } of own) alive(`process ${pid} is one of its members`);
  if (own.length === 0) evidence.push('no process is one of its members');
  if (lives === undefined) {
    const cwds = new Set(team.config?.members.flatMap(({ cwd }) => cwd ?? []));
    const near = processes.filter(
      ({ words, cwd }) => isClaude(words) && (cwds.size === 0 || cwd === '' || cwds.has(cwd)),
    );
    for (const { pid } of near) alive(`process ${pid} is Claude Code in its folder and may lead it`);
    if (near.length === 0) evidence.push('no Claude Code runs in its folder');
  }
  const { name, kind, changedAt } = team;
  return { name, kind, dead, evidence, changedAt, tasks: team.tasks.size, members: team.config?.members.length ?? 0 };
}

/**
 * A teammate has its team in its arguments, and a resumed session has its id, each as the value of an option. A name
 * that is not an option's value belongs to a process that inspects or cleans up the team.
 */
function mentions(words: readonly string[], { name, kind, title, config }: NativeTeam): boolean {
  const at = words.indexOf('--team-name');
  const team = at === -1 ? undefined : words[at + 1];
  if (team === name || (team !== undefined && team === title)) return true;
  const session = config?.leadSessionId ?? (kind === 'session' ? name : undefined);
  if (session === undefined) return false;
  return words.some((word, i) =>
    SESSION_OPTIONS.some((one) => (word === one && words[i + 1] === session) || word === `${one}=${session}`),
  );
}

/** Only Claude Code's options count: ours may also precede a name, as in `native clean --json NAME`. */
const SESSION_OPTIONS = ['-r', '--resume', '--session-id', '--parent-session-id'];

function isClaude(words: readonly string[]): boolean {
  return words.slice(0, 2).some((word) => /(^|\/)(claude|claude-code)(\/|$)|claude-code\/cli\.js$/.test(word));
}

/** Whether a process may work in a root. Team names repeat; a process with another home belongs to another team. */
function mayUse(pid: number, root: string): boolean {
  const environment = TABLE.environmentOf(pid);
  // Another user's process, or a system that does not tell: it may.
  if (!environment?.['HOME']) return true;
  try {
    return realpathSync(findNativeRoot(environment)) === realpathSync(root);
  } catch {
    // One without a root.
    return true;
  }
}

/** As Claude Code writes it: the machine and its PID namespace. */
function pidSpace(): string {
  const space = TABLE.space();
  return space === '' ? hostname() : `${hostname()}#${space}`;
}

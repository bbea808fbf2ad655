import { join } from 'node:path';
import { findUserHome } from '../agents/user-home.ts';
import { TeamError } from '../core/errors.ts';
import { isChosenTaskId } from '../core/fields.ts';
import { quote } from '../core/text.ts';

/** Where Claude Code keeps its teams and tasks: `CLAUDE_CONFIG_DIR`, else `.claude` in the user's home. */
export function findNativeRoot(environment: Readonly<Record<string, string | undefined>>): string {
  const chosen = environment['CLAUDE_CONFIG_DIR'];
  if (chosen) return chosen;
  return join(findUserHome(environment), '.claude');
}

/** The lead's name in every native team. */
export const NATIVE_LEAD = 'team-lead';

/** The files of one native team. Its directory carries the same name under `teams/` and under `tasks/`. */
export interface NativePaths {
  readonly name: string;
  readonly team: string;
  readonly config: string;
  readonly inboxes: string;
  readonly tasks: string;
  /** An empty file; the lock for new tasks is created beside it. */
  readonly taskList: string;
  readonly highWaterMark: string;
  inbox(member: string): string;
  task(id: string): string;
}

/** A name that is safe in a path: not hidden, without `..` or `/`, and not ending like a lock. */
const SAFE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._ -]{0,127}$/;

/** Whether a native name may be used to build a path. */
export function isSafeName(name: string): boolean {
  return SAFE_NAME.test(name) && !name.endsWith('.lock') && !name.endsWith('.') && !name.endsWith(' ');
}

/** The paths of a team by its directory name. Refuses a name that could lead elsewhere. */
export function nativePaths(root: string, name: string): NativePaths {
  requireSafe(name, 'team');
  return pathsOf(root, name);
}

/** The paths of any directory listed in a root, for reading only. The name must not lead elsewhere. */
export function listedPaths(root: string, name: string): NativePaths {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) requireSafe(name, 'team');
  return pathsOf(root, name);
}

function pathsOf(root: string, name: string): NativePaths {
  const team = join(root, 'teams', name);
  const tasks = join(root, 'tasks', name);
  const inboxes = join(team, 'inboxes');
  return {
    name,
    team,
    config: join(team, 'config.json'),
    inboxes,
    tasks,
    taskList: join(tasks, '.lock'),
    highWaterMark: join(tasks, '.highwatermark'),
    inbox(member) {
      requireSafe(member, 'member');
      return join(inboxes, `${member}.json`);
    },
    task(id) {
      if (!isNativeTaskId(id)) {
        throw new TeamError('invalid', `${quote(id)} is not the id of a native task (a whole number)`);
      }
      return join(tasks, `${id}.json`);
    },
  };
}

/** Whether this is a native id: decimal, and small enough that our own ids can follow it. */
export function isNativeTaskId(id: string): boolean {
  return isChosenTaskId(id);
}

/** Sessions without a team keep their tasks under their own id. */
export function isSessionName(name: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(name);
}

function requireSafe(name: string, what: string): void {
  if (isSafeName(name)) return;
  throw new TeamError('invalid', `${quote(name)} cannot be the name of a native ${what}: nothing was read or written`);
}

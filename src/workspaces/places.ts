import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TeamError } from '../core/errors.ts';
import { isSlug } from '../core/fields.ts';
import { makeWritable, removeFolder, removeFolders } from './remove-folder.ts';
import type { WorkspaceName } from './workspace.ts';

/** The folders of all workspaces of one daemon. They are on one disk, because folders are moved between them. */
export interface Places {
  /** `ID.git`: a depot per project. */
  readonly depots: string;
  /** `TEAM/MEMBER`: the folders. */
  readonly workspaces: string;
  /** `TEAM/MEMBER`: the index and the state of each folder. */
  readonly indexes: string;
  /** What is being made. After a crash it is debris. */
  readonly making: string;
  /** What was put away, by the time at which that happened. */
  readonly trash: string;
}

const PRIVATE = 0o700;

/**
 * Makes the folders and removes what a killed daemon left in them. Only the daemon that holds the state directory may
 * do that. `endLeftovers` ends the git processes of a killed daemon: a lock counts as left behind only after that.
 */
export async function openPlaces(
  root: string,
  { endLeftovers }: { endLeftovers: () => Promise<unknown> },
): Promise<Places> {
  const places: Places = {
    depots: join(root, 'depots'),
    workspaces: join(root, 'workspaces'),
    indexes: join(root, 'indexes'),
    making: join(root, 'workspaces', '.making'),
    trash: join(root, 'trash'),
  };
  await endLeftovers();
  const { depots, workspaces, indexes, making, trash } = places;
  for (const folder of [depots, workspaces, indexes, making, trash]) {
    await mkdir(folder, { recursive: true, mode: PRIVATE });
  }
  for (const name of await readdir(making)) await removeFolder(join(making, name));
  for (const name of await readdir(depots)) {
    const depot = join(depots, name);
    // No ref has such a name. A ref may well begin like a draft: those are among the objects alone.
    await removeDebris(depot, LOCK, ['no-tree', 'objects']);
    await removeDebris(join(depot, 'objects'), LOCK_OR_DRAFT);
    await removeReports(depot);
  }
  for (const team of await readdir(indexes)) {
    for (const member of await readdir(join(indexes, team)).catch(() => [])) {
      await removeDebris(join(indexes, team, member), LOCK_OR_DRAFT);
    }
  }
  return places;
}

/** The folder of a workspace, or of its index. Names are checked here: they become paths and refs. */
export function placeOf(parent: string, { team, member }: WorkspaceName): string {
  if (!isSlug(team) || !isSlug(member.replace(/^@/, ''))) {
    throw new TeamError(
      'invalid',
      `${JSON.stringify(`${team}/${member}`)} cannot name a workspace: use a team and a member`,
    );
  }
  return join(parent, team, member);
}

/** A name that is new in a folder, such as the one for what is being made. */
export function freshName(folder: string, start = ''): string {
  return join(folder, `${start}${randomBytes(6).toString('hex')}`);
}

/** Works in a new folder, which is removed afterwards. */
export async function inNewFolder<R>(
  { making }: Pick<Places, 'making'>,
  work: (folder: string) => Promise<R>,
): Promise<R> {
  const folder = freshName(making);
  await mkdir(folder, { mode: PRIVATE });
  try {
    return await work(folder);
  } finally {
    await removeFolder(folder);
  }
}

/** Moves something to the trash and returns its place there; undefined if there is nothing. */
export async function putAway(places: Places, path: string, what: string): Promise<string | undefined> {
  const place = freshName(places.trash, `${Date.now()}-${what}-`);
  try {
    await rename(path, place).catch(async (error: unknown) => {
      // A folder that its agent made read-only cannot be moved.
      if (!(await makeWritable(path))) throw error;
      await rename(path, place);
    });
    return place;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** One thing in the trash. */
export interface Trash {
  readonly path: string;
  /** What it was, such as `alpha.ada`. */
  readonly what: string;
  /** When it was put there, in milliseconds. */
  readonly at: number;
}

/**
 * What workspaces have in the trash, oldest first. What others put there, such as files of native teams, is none of it:
 * their names begin with a date, and may end with the digits of a session.
 */
export async function listTrash(places: Places): Promise<Trash[]> {
  const found = (await readdir(places.trash)).flatMap((name) => {
    const [, at, what = ''] = /^(\d{13})-(.*)-[0-9a-f]{12}$/.exec(name) ?? [];
    return at === undefined ? [] : [{ path: join(places.trash, name), what, at: Number(at) }];
  });
  return found.sort((a, b) => a.at - b.at);
}

/** Removes for good what was put in the trash before a moment; returns what it removed. What it cannot is named last. */
export async function emptyTrash(places: Places, before: number): Promise<Trash[]> {
  const old = (await listTrash(places)).filter(({ at }) => at < before);
  await removeFolders(old.map(({ path }) => path));
  return old;
}

/** What git calls a lock. */
export const LOCK = /\.lock$/;
const LOCK_OR_DRAFT = /\.lock$|^tmp_|^\.tmp-|^bulk_fsync_/;

/** Removes the reports that `git fast-import` leaves in a depot when it fails. */
export async function removeReports(depot: string): Promise<void> {
  const names = await readdir(depot).catch(() => []);
  for (const name of names) if (/^fast_import_crash_\d+$/.test(name)) await rm(join(depot, name), { force: true });
}

/** Removes locks and half-written files. They are ours: nobody else writes here. */
export async function removeDebris(folder: string, names: RegExp, except: readonly string[] = []): Promise<void> {
  const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of found) {
    if (except.includes(entry.name)) continue;
    const path = join(folder, entry.name);
    if (names.test(entry.name)) await rm(path, { recursive: true, force: true });
    else if (entry.isDirectory()) await removeDebris(path, names);
  }
}

/** Whether there is a real folder, not a link to one. */
export async function isFolder(path: string | Buffer): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() ?? false;
}

import { basename, dirname } from 'node:path';
import { TeamError } from '../core/errors.ts';
import { compare } from './depot/compare.ts';
import type { DepotHandle, RefChange } from './depot/handle.ts';
import { listKept } from './depot/saves.ts';
import { splitLines } from './git.ts';
import { emptyTrash, listTrash } from './places.ts';
import type { Places } from './places.ts';
import { removeFolders } from './remove-folder.ts';
import { sizeOf } from './sizes.ts';
import type { ObjectId } from './workspace.ts';

const DAY = 24 * 60 * 60_000;

/** How long a folder stays in the trash. */
export const TRASH_MS = 14 * DAY;

/** How long kept work stays after the branch of its team was merged. */
export const KEPT_MS = 30 * DAY;

/**
 * Something that a workspace or a team left behind. `trash`: a folder. `kept`: work that is on no branch. `branch`: the
 * branch of a deleted team.
 */
export interface Leftover {
  /** What people name it by. */
  readonly id: string;
  readonly kind: 'trash' | 'kept' | 'branch';
  /** The team, and the member if it was one's. */
  readonly of: string;
  readonly at: number;
  /** When it goes by itself; undefined: only a person removes it. */
  readonly goesAt?: number;
  /** The bytes on the disk of a folder. */
  readonly size?: number;
  /** How many files the work differs in from where it began. */
  readonly files?: number;
  /** Where it is: a folder, or a depot and a ref. */
  readonly path: string;
  readonly ref?: string;
  readonly commit?: ObjectId;
}

/** What leftovers are found in. */
export interface LeftoverPlaces {
  readonly places: Places;
  readonly depots: readonly DepotHandle[];
}

/** Lists what workspaces and teams left behind, oldest first. Nothing is judged by how long nobody used it. */
export async function listLeftovers({ places, depots }: LeftoverPlaces): Promise<Leftover[]> {
  const found: Leftover[] = [];
  for (const { path, what, at } of await listTrash(places)) {
    const id = basename(path).slice(-12);
    const size = await sizeOf(path);
    found.push({ id, kind: 'trash', of: what.replace('.', '/'), at, goesAt: at + TRASH_MS, size, path });
  }
  for (const handle of depots) found.push(...(await listOfDepot(handle)));
  return found.sort((a, b) => a.at - b.at);
}

async function listOfDepot(handle: DepotHandle): Promise<Leftover[]> {
  const { marks, deleted } = await listEnded(handle);
  const found: Leftover[] = [];
  for (const { ref, commit, base, team, member, at } of await listKept(handle)) {
    const mark = marks.find((one) => endsWith(one, { team, at }));
    const files = (await compare(handle, [base, commit])).length;
    const goes = mark && { goesAt: mark.at + KEPT_MS };
    found.push({
      id: commit,
      kind: 'kept',
      of: `${team}/${member}`,
      at,
      files,
      path: handle.dir,
      ref,
      commit,
      ...goes,
    });
  }
  for (const { ref, commit, team, at } of deleted) {
    const mark = marks.find((one) => one.team === team && one.commit === commit);
    const goes = mark && { goesAt: mark.at + KEPT_MS };
    found.push({ id: commit, kind: 'branch', of: team, at, path: handle.dir, ref, commit, ...goes });
  }
  return found;
}

/** Removes leftovers for good, each by its id or the beginning of it. Nothing is removed if one is not known. */
export async function removeLeftovers(where: LeftoverPlaces, ids: readonly string[]): Promise<Leftover[]> {
  const all = await listLeftovers(where);
  const wanted = new Set(ids.flatMap((id) => findLeftovers(all, id)));
  for (const { path, ref, commit } of wanted) {
    if (ref !== undefined) await dropRefs(where, path, [{ ref, to: undefined, from: commit }]);
  }
  await removeFolders([...wanted].flatMap(({ kind, path }) => (kind === 'trash' ? path : [])));
  return [...wanted];
}

function findLeftovers(all: readonly Leftover[], id: string): Leftover[] {
  if (id === 'trash') return all.filter(({ kind }) => kind === 'trash');
  const found = all.filter((one) => one.id.startsWith(id));
  const names = new Set(found.map((one) => one.id));
  if (names.size === 1) return found;
  const how = names.size === 0 ? 'is nothing that was left behind' : 'is the beginning of several';
  throw new TeamError('not_found', `${JSON.stringify(id)} ${how}: troupe work clean lists all; nothing was removed`);
}

async function dropRefs({ depots }: LeftoverPlaces, dir: string, changes: readonly RefChange[]): Promise<void> {
  await depots.find((handle) => handle.dir === dir)?.changeRefs(changes);
}

/**
 * Removes what has had its time: folders 14 days after they were put into the trash, kept work 30 days after the branch
 * of its team was merged.
 */
export async function expireLeftovers({ places, depots }: LeftoverPlaces, now: number): Promise<void> {
  for (const handle of depots) {
    const { marks, deleted: all } = await listEnded(handle);
    const over = marks.filter(({ at }) => at + KEPT_MS < now);
    if (over.length === 0) continue;
    const kept = (await listKept(handle)).filter((work) => over.some((mark) => endsWith(mark, work)));
    const deleted = all.filter(({ team, commit }) => over.some((mark) => mark.team === team && mark.commit === commit));
    const gone = [...kept, ...deleted, ...over].map(({ ref, commit }) => ({ ref, to: undefined, from: commit }));
    await handle.changeRefs(gone);
  }
  await emptyTrash(places, now - TRASH_MS);
}

/** Whether kept work goes with a branch: it is of the same team, from before the branch was found merged. */
function endsWith(mark: Mark, work: { readonly team: string; readonly at: number }): boolean {
  return mark.team === work.team && work.at <= mark.until;
}

/** A branch that was found merged into the checkout. */
interface Mark {
  readonly ref: string;
  readonly team: string;
  readonly commit: ObjectId;
  readonly at: number;
  /** Work that is later belongs to another team of the same name, or to a branch that goes on. */
  readonly until: number;
}

/** The branches that were found merged, and those of deleted teams. One start of git: a machine may have many depots. */
async function listEnded({ run }: DepotHandle): Promise<{ readonly marks: Mark[]; readonly deleted: Timed[] }> {
  const { out } = await run(['for-each-ref', '--format=%(refname) %(objectname)', MERGED, DELETED]);
  const lines = splitLines(out);
  const deleted = lines.flatMap((line) => readTimed(line, DELETED));
  const marks = lines
    .flatMap((line) => readTimed(line, MERGED))
    .map((mark) => {
      const end = deleted.find(({ team, commit }) => team === mark.team && commit === mark.commit);
      return { ...mark, until: end?.at ?? mark.at };
    });
  return { marks, deleted };
}

const MERGED = 'refs/merged';
const DELETED = 'refs/deleted';

/** A ref that is named `KIND/TEAM/TIME`. */
type Timed = Omit<Mark, 'until'>;

function readTimed(line: string, kind: string): Timed[] {
  const [ref = '', commit = ''] = line.split(' ');
  const at = Number(basename(ref));
  return ref.startsWith(`${kind}/`) && Number.isFinite(at) ? [{ ref, commit, team: basename(dirname(ref)), at }] : [];
}

/**
 * Records which branches the checkout contains, so that what they left behind can go later. What it no longer contains
 * counts as unmerged again. The depot must have its refs: `takeIn` before this.
 */
export async function markMerged(
  handle: DepotHandle,
  branches: readonly { readonly team: string; readonly commit: ObjectId }[],
  now: number,
): Promise<void> {
  const { marks, deleted } = await listEnded(handle);
  const known = new Set<string>();
  for (const mark of marks) {
    if (await isInCheckout(handle, mark.commit)) known.add(`${mark.team} ${mark.commit}`);
    else await dropMarks(handle, [mark]);
  }
  // Several teams of one name may have been deleted, and each branch has a mark of its own.
  let at = now;
  for (const { team, commit } of [...branches, ...deleted]) {
    if (known.has(`${team} ${commit}`) || !(await isInCheckout(handle, commit))) continue;
    await handle.changeRefs([{ ref: `refs/merged/${team}/${at++}`, to: commit }]);
  }
}

/** Whether branches of deleted teams are there, or merged ones are remembered. */
export async function hasBranches(handle: DepotHandle): Promise<boolean> {
  const { marks, deleted } = await listEnded(handle);
  return marks.length + deleted.length > 0;
}

/** Forgets what the checkout contained: it is gone or unreadable, so the work may be only in the depot. */
export async function unmark(handle: DepotHandle): Promise<void> {
  await dropMarks(handle, (await listEnded(handle)).marks);
}

function dropMarks(handle: DepotHandle, marks: readonly Mark[]): Promise<void> {
  return handle.changeRefs(marks.map(({ ref, commit }) => ({ ref, to: undefined, from: commit })));
}

/** Whether a branch of the user has it. A merge that was refused leaves the team's own branch there: that is none. */
async function isInCheckout({ run }: DepotHandle, commit: ObjectId): Promise<boolean> {
  const words = ['for-each-ref', '--format=%(refname)', `--contains=${commit}`];
  // Exit code 129: the depot lacks the commit, since another machine made it.
  const { out } = await run([...words, 'refs/checkout/heads', 'refs/checkout/HEAD'], { exits: [0, 129] });
  return splitLines(out).some((name) => !name.startsWith('refs/checkout/heads/troupe/'));
}

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TeamError } from '../core/errors.ts';
import type { Checkout } from './checkout.ts';
import { listUncommitted, takeUncommitted } from './depot/changes.ts';
import type { Uncommitted } from './depot/changes.ts';
import { makeCommit } from './depot/commit.ts';
import type { NewCommit } from './depot/commit.ts';
import { compare, toChange } from './depot/compare.ts';
import { findConflicts } from './depot/conflicts.ts';
import { readDiff, readPatch } from './depot/diff.ts';
import type { Diff, DiffOptions } from './depot/diff.ts';
import { setFilters } from './depot/filters.ts';
import { openHandle } from './depot/handle.ts';
import type { DepotHandle } from './depot/handle.ts';
import { makeDepot, takeIn } from './depot/make.ts';
import { branchRef, landWork, mergeCommits, placedRef } from './depot/merge.ts';
import type { Landed, Merged, MergeOptions } from './depot/merge.ts';
import { depotId, writeOrigin } from './depot/origin.ts';
import { findCommits, findRoots, flattenSave, makePack, takePack } from './depot/packs.ts';
import type { ArrivedPack, PackContent } from './depot/packs.ts';
import { checkDepot, remakeDepot } from './depot/repair.ts';
import type { Repair } from './depot/repair.ts';
import { isAncestor, listKept } from './depot/saves.ts';
import { keepPrecious, packDepot } from './depot/tidy.ts';
import { GitError } from './git-errors.ts';
import { requireId } from './git.ts';
import type { Git } from './git.ts';
import { freshName, isFolder } from './places.ts';
import type { Places } from './places.ts';
import { openRecent } from './recent.ts';
import { openRemote } from './remote.ts';
import type { DepotRemote, RemoteOptions } from './remote.ts';
import { sizeOf } from './sizes.ts';
import type { Change, KeptWork, ObjectId, WorkLimits } from './workspace.ts';

/**
 * The daemon's own bare repository of a project. Folders borrow its objects, so none is ever removed. Every refusal is a
 * `TeamError`. After a `corrupt` one, open the depot again: it is then checked and, if need be, made again.
 */
export interface Depot {
  readonly id: string;
  readonly dir: string;
  /** What opening it had to repair; undefined if it was whole. */
  readonly repair: Repair | undefined;
  /** For the other parts of this room. */
  readonly handle: DepotHandle;

  /** Takes in what is new in the checkout, and returns the commit of its HEAD or of a branch or tag. */
  take(checkout: Checkout, name?: string): Promise<ObjectId>;
  /** The filters that a commit names and that Troupe does not run; never `lfs` if git-lfs is installed. */
  unknownFilters(commit: ObjectId): Promise<ReadonlySet<string>>;
  /** The paths that differ from HEAD in the checkout, without ignored ones. */
  uncommitted(): Promise<readonly Change[]>;
  /** Commits these paths on top of HEAD, in the depot alone. The user's index is not touched. */
  takeUncommitted(limits?: WorkLimits): Promise<Uncommitted>;

  /** How two commits or trees differ, path by path. */
  changes(from: ObjectId, to: ObjectId, options?: { renames?: boolean }): Promise<readonly Change[]>;
  /** How two commits or trees differ, line by line, within bounds. */
  diff(from: ObjectId, to: ObjectId, options?: DiffOptions): Promise<Diff>;
  /** The whole difference as `git apply` takes it, with binary files. Fails with `limit` above `maxBytes`. */
  patch(from: ObjectId, to: ObjectId, options?: { maxBytes?: number }): Promise<Buffer>;

  /** The text of a file in a commit or tree; undefined if there is none, it is larger, or it is binary. */
  file(id: ObjectId, path: string, maxBytes: number): Promise<string | undefined>;

  merge(ours: ObjectId, theirs: ObjectId, options?: MergeOptions): Promise<Merged>;
  /** The paths in which two commits conflict, for each pair. It leaves nothing in the depot. */
  conflicts(pairs: readonly (readonly [ObjectId, ObjectId])[], signal?: AbortSignal): Promise<readonly string[][]>;
  commit(commit: NewCommit): Promise<ObjectId>;
  land(what: Parameters<typeof landWork>[1], commit: Parameters<typeof landWork>[2]): Promise<Landed>;

  /** The tip of a team's branch; undefined if there is none. */
  branch(name: string): Promise<ObjectId | undefined>;
  /** Where Troupe itself last put a branch. If it is elsewhere now, somebody else moved it. */
  placed(name: string): Promise<ObjectId | undefined>;
  /** Moves a branch, if it is at `from` now; `from` undefined makes it. Fails with `conflict`. */
  moveBranch(name: string, to: ObjectId, from: ObjectId | undefined): Promise<void>;

  /** Work that was put away and never landed, newest first. */
  kept(): Promise<readonly KeptWork[]>;
  /** Forgets kept work. Only a person decides that. */
  dropKept(ref: string): Promise<void>;

  /** Whether a commit descends from another, or is the same. */
  descends(newer: ObjectId, older: ObjectId): Promise<boolean>;
  /** The commits of a list that are here. */
  has(ids: readonly ObjectId[]): Promise<readonly ObjectId[]>;
  /** The first commits of a history: clones of one repository share them. */
  roots(commit: ObjectId): Promise<readonly ObjectId[]>;
  /** The commit in which a save travels: the same files on its base, without the saves before it. */
  flatten(save: Parameters<typeof flattenSave>[1]): Promise<ObjectId>;
  /** Packs what its receiver lacks. Fails with `limit` above `PACK_BYTES`. */
  pack(content: PackContent): Promise<Buffer>;
  /** Takes in a pack of another machine, whole or not at all. Fails with `corrupt` if git or the hash refuses it. */
  takePack(pack: ArrivedPack): Promise<void>;
  /** A git remote of the project. */
  remote(named: Pick<RemoteOptions, 'checkout' | 'remote' | 'team' | 'base'>): DepotRemote;

  /** What is wrong with it, in git's words. Reads every object. */
  check(): Promise<readonly string[]>;
  /** Packs loose objects and refs. Nothing is lost by it. */
  tidy(): Promise<void>;
  /** The bytes on the disk that it takes. */
  size(): Promise<number>;
  /** Whether it is on the disk as it was opened. If somebody removed it, open it again. */
  isThere(): Promise<boolean>;
}

/** What a depot is opened with. */
export interface DepotSettings {
  readonly git: Git;
  readonly places: Places;
  readonly checkout: Checkout;
  /** Where git-lfs is looked for. */
  readonly path?: string;
  /** The queue in which refs change, if others change them, too. */
  readonly alone?: DepotHandle['alone'];
}

/** Of how many commits the unknown filters are kept: bases of workspaces, which every save needs. Each landing makes another one. */
const MOST_COMMITS = 200;

/** The file in a depot that has the number of its last opening. */
const OPENED_FILE = 'opened';

async function readText({ run }: DepotHandle, name: string, maxBytes: number): Promise<string | undefined> {
  const size = await run(['cat-file', '-s', name], { exits: [0, 128] });
  if (size.code !== 0 || !(Number(size.out) <= maxBytes)) return undefined;
  const { code, out } = await run(['cat-file', 'blob', name], { exits: [0, 128] });
  return code !== 0 || out.includes(0) ? undefined : out.toString();
}

/** Opens the depot of a checkout. A missing one is made, a damaged one is made again from the checkout. */
export async function openDepot({
  git,
  places,
  checkout,
  path = process.env['PATH'] ?? '',
  alone,
}: DepotSettings): Promise<Depot> {
  const id = depotId(checkout);
  const dir = join(places.depots, `${id}.git`);
  const suspect = join(dir, 'suspect');
  const repair = await prepare();
  const handle = watched(openHandle(git, dir, alone));
  // A daemon that was killed while it removed objects left them unguarded.
  if (!(await readFile(join(dir, 'config'), 'utf8')).includes('preciousObjects')) await keepPrecious(handle);
  let current = checkout;
  await rememberCheckout();
  // Tells it from another one that was made in its place meanwhile.
  const sign = randomUUID();
  await writeFile(join(dir, OPENED_FILE), sign);
  const unknown = openRecent<ReadonlySet<string>>(MOST_COMMITS, () => 1);

  return {
    id,
    dir,
    repair,
    handle,
    async take(checkout, name) {
      current = checkout;
      await takeIn(handle, checkout);
      await rememberCheckout();
      if (name === undefined) return checkout.head;
      const refs = [`refs/checkout/heads/${name}`, `refs/checkout/tags/${name}`];
      for (const ref of refs) {
        const found = await handle.readRef(`${ref}^{commit}`);
        if (found !== undefined) return found;
      }
      throw new TeamError('not_found', `${checkout.folder} has no branch or tag ${JSON.stringify(name)}`);
    },
    unknownFilters,
    uncommitted: () => listUncommitted(handle, places, current),
    async takeUncommitted(limits) {
      const filters = await unknownFilters(current.head);
      return takeUncommitted(handle, places, { checkout: current, filters, ...(limits && { limits }) });
    },
    changes: async (from, to, options) => (await compare(handle, [from, to], options)).map(toChange),
    diff: (from, to, options) => readDiff(handle, [from, to], options),
    patch: (from, to, options) => readPatch(handle, [from, to], options),
    file: (id, path, maxBytes) => readText(handle, `${requireId(id)}:${path}`, maxBytes),
    merge: (ours, theirs, options) => mergeCommits(handle, [ours, theirs], options),
    conflicts: (pairs, signal) => findConflicts(handle, places, pairs, signal),
    commit: (commit) => makeCommit(handle, commit),
    land: (what, commit) => landWork(handle, what, commit),
    branch: async (name) => handle.readRef(await branchRef(handle, name)),
    placed: (name) => handle.readRef(placedRef(name)),
    async moveBranch(name, to, from) {
      const ref = await branchRef(handle, name);
      await handle.changeRefs([
        { ref, to, from: from ?? '' },
        { ref: placedRef(name), to },
      ]);
    },
    kept: () => listKept(handle),
    async dropKept(ref) {
      const found = (await listKept(handle)).find((work) => work.ref === ref);
      if (!found) throw new TeamError('not_found', `There is no kept work ${JSON.stringify(ref)}`);
      await handle.changeRefs([{ ref, to: undefined, from: found.commit }]);
    },
    descends: (newer, older) => isAncestor(handle, older, newer),
    has: (ids) => findCommits(handle, ids),
    roots: (commit) => findRoots(handle, commit),
    flatten: (save) => flattenSave(handle, save),
    pack: (content) => makePack(handle, content),
    // With git as it is: a bad pack is no damage of the depot.
    takePack: (pack) => takePack({ ...handle, git }, places, pack),
    remote: (named) => openRemote({ ...named, handle: openHandle(git, dir, handle.alone), places, path }),
    check: () => checkDepot(handle),
    tidy: () => packDepot(handle),
    size: () => sizeOf(dir),
    async isThere() {
      try {
        // What is left while a folder is being removed is no depot.
        await readFile(join(dir, 'HEAD'));
        return (await readFile(join(dir, OPENED_FILE), 'utf8')) === sign;
      } catch (error) {
        // A disk that cannot be read now, or too many open files, say nothing about it.
        return (error as NodeJS.ErrnoException).code !== 'ENOENT';
      }
    },
  };

  function unknownFilters(commit: ObjectId): Promise<ReadonlySet<string>> {
    return unknown.get(commit, () => setFilters(handle, current, { commit, path }));
  }

  async function prepare(): Promise<Repair | undefined> {
    if (!(await isFolder(dir))) {
      const draft = freshName(places.making);
      await makeDepot(git, draft, checkout);
      await rename(draft, dir);
      return undefined;
    }
    const found = openHandle(git, dir, alone);
    try {
      // Names a ref whose object is missing.
      await found.run(['for-each-ref', '--format=%(objecttype)']);
      await takeIn(found, checkout);
      if (!existsSync(suspect) || (await checkDepot(found)).length === 0) {
        await rm(suspect, { force: true });
        return undefined;
      }
    } catch (error) {
      if (!(error instanceof GitError) || (error.code !== 'corrupt' && error.code !== 'not_found')) throw error;
    }
    return remakeDepot(git, { dir, places, checkout });
  }

  /** A team of several machines may need the same project, and only names its commits; and a checkout may be moved. */
  async function rememberCheckout(): Promise<void> {
    if (!current.isAbsent) await writeOrigin(places, dir, current);
  }

  /** Notes damage, so that the next opening looks at every object. */
  function watched(handle: DepotHandle): DepotHandle {
    const git: Git = {
      ...handle.git,
      run: async (...call) => {
        try {
          return await handle.git.run(...call);
        } catch (error) {
          if (error instanceof GitError && error.code === 'corrupt') await writeFile(suspect, '').catch(() => {});
          throw error;
        }
      },
    };
    return openHandle(git, dir, alone);
  }
}

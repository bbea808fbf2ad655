import { rm } from 'node:fs/promises';
import { TeamError } from '../../core/errors.ts';
import type { Checkout } from '../checkout.ts';
import type { Depot } from '../depot.ts';
import { compare, toChange } from '../depot/compare.ts';
import type { RawChange } from '../depot/compare.ts';
import { leaveSave, listAllSaves, listEarlier, listSaves, makeSave, savesRef } from '../depot/saves.ts';
import { GitError } from '../git-errors.ts';
import { requireId } from '../git.ts';
import { isFolder, putAway } from '../places.ts';
import type { Places } from '../places.ts';
import { openQueue } from '../queue.ts';
import { sizeOf } from '../sizes.ts';
import { markSubmodules, stageFolder } from '../stage.ts';
import type { Staged } from '../stage.ts';
import type {
  Closed,
  KeptWork,
  ObjectId,
  Opened,
  Save,
  Saved,
  WorkLimits,
  Workspace,
  WorkspaceName,
} from '../workspace.ts';
import { replaceHead } from './dot-git.ts';
import { clearPlace, isInPlace, requireInPlace } from './in-place.ts';
import { clearWay, requireFree } from './in-the-way.ts';
import { openIndex } from './index-file.ts';
import { findOpenWork } from './open-work.ts';
import { reviewSave } from './review.ts';
import { filesIn, readState, writeState } from './state.ts';
import type { State } from './state.ts';
import { findUnsaved } from './unsaved.ts';

/** A workspace whose folder exists. */
export interface OpenFolder {
  readonly places: Places;
  readonly depot: Depot;
  readonly checkout: Checkout;
  readonly limits: WorkLimits;
  readonly name: WorkspaceName;
  readonly folder: string;
  readonly about: string;
  readonly opened: Opened;
  /** Makes the folder again, with its index and state, from its last save. */
  readonly makeAgain: (base: ObjectId, from: { readonly checkout: Checkout }) => Promise<Opened>;
  /** Called when the workspace is closed. */
  readonly forget: () => void;
}

/** A workspace that is open in this daemon. */
export interface OpenWork extends Workspace {
  /** Makes the folder again if it is gone. */
  ensure(): Promise<void>;
  /** From now on it counts with these limits, and with a checkout that may have been moved. */
  use(settings: Pick<OpenFolder, 'checkout' | 'limits'>): void;
}

/** Opens the workspace of a folder that exists. Finishes what a kill interrupted. */
export async function openWork(options: OpenFolder): Promise<OpenWork> {
  const { places, depot, name, folder, about, makeAgain, forget } = options;
  const { handle } = depot;
  const { git, dir } = handle;
  const files = filesIn(folder, about);
  const place = { dir, index: files.index, tree: folder };
  const index = openIndex({ git, dir, index: files.index, folder });
  const ref = savesRef(name);
  const label = `${name.team}.${name.member}`;
  const one = openQueue();

  let { opened, checkout, limits } = options;
  let state = await requireState();
  let last: Save | undefined = (await listSaves(handle, ref, 1))[0];
  /** What the last save changed, so that an unchanged folder costs two commands. */
  let known: { tree: ObjectId; base: ObjectId; changes: readonly RawChange[] } | undefined;
  let isClosed = false;
  await index.unlock();
  await index.ensureWhole(trees());
  if (state.moving) await lay(state.moving);
  else await ensureDotGit();

  /** For what works also without the folder. */
  const callAnywhere = <R>(work: () => Promise<R>): Promise<R> =>
    one(async () => {
      if (isClosed) throw new TeamError('conflict', `The workspace of ${name.member} is closed: open it again`);
      await index.unlock();
      return work();
    });
  const call = <R>(work: () => Promise<R>): Promise<R> =>
    callAnywhere(async () => {
      await ensure();
      return work();
    });

  return {
    name,
    folder,
    get opened() {
      return opened;
    },
    get base() {
      return state.base;
    },
    save: (signal) => call(() => save(signal)),
    saves: (limit) => callAnywhere(() => listAllSaves(handle, name, limit)),
    review: (saved) => reviewSave(handle, saved),
    unsaved: (since) =>
      call(() => findUnsaved({ handle, index: files.index, folder, base: state.base }, requireId(since))),
    refresh: (tip, moving) => call(async () => lay({ to: await handle.treeOf(tip), base: requireId(tip) }, moving)),
    lay: (tree, base, moving) =>
      call(async () => {
        const { commit: carries } = await save(moving?.signal);
        return lay({ to: await handle.treeOf(tree), base: requireId(base), carries }, moving);
      }),
    restore: (commit, signal) =>
      call(async () => {
        const wanted = (await listAllSaves(handle, name)).find((saved) => saved.commit === commit);
        if (wanted) return lay({ to: wanted.tree, base: wanted.base, carries: wanted.carries }, { signal });
        throw new TeamError('not_found', `${name.member} has no save ${commit.slice(0, 12)}`);
      }),
    needsSetup: async (what) => state.prepared !== what,
    setupDone: (what) => call(() => keep({ ...state, prepared: what })),
    size: async () => ((await isInPlace(folder)) ? sizeOf(folder) : 0),
    close: (closing) => callAnywhere(() => close(closing)),
    use: (settings) => void ({ checkout, limits } = settings),
    // Without the queue, as long as the folder is there: a save may take a while.
    ensure: async () => ((await isInPlace(folder)) ? undefined : call(async () => {})),
  };

  async function ensure(): Promise<void> {
    if (!(await isInPlace(folder))) {
      opened = await makeAgain(state.base, { checkout });
      state = await requireState();
      last = (await listSaves(handle, ref, 1))[0];
      known = undefined;
      index.unsettle();
    }
    // A refresh that failed halfway, as on a full disk.
    if (state.moving) await lay(state.moving);
  }

  async function requireState(): Promise<State> {
    const found = await readState(files.state);
    if (found) return found;
    throw new TeamError('corrupt', `${files.state} cannot be read: move ${folder} away and open the workspace again`);
  }

  async function keep(next: State): Promise<void> {
    await writeState(files.state, next);
    state = next;
  }

  async function save(signal?: AbortSignal): Promise<Saved> {
    try {
      return await saveFolder(signal);
    } finally {
      index.forget();
    }
  }

  async function saveFolder(signal?: AbortSignal): Promise<Saved> {
    const { base } = state;
    const before = known?.base === base ? known : await lookUp(base);
    // The index changes now. If a later step fails, what it has is looked up again.
    known = undefined;
    const { isTouched, leftOut } = await stage(before.changes, signal);
    // What came through a link is no work of the member.
    await requireInPlace(folder);
    const { tree, changes } = isTouched ? await index.compare(base, signal) : before;
    const hasOwn = last?.base === base;
    // A folder as its base has it needs no commit: the base is its save.
    if (!hasOwn && changes.length === 0) {
      known = { tree, base, changes };
      return { commit: base, tree, base, at: Date.now(), unchanged: true, changes: [], leftOut };
    }
    const unchanged = hasOwn && last?.tree === tree;
    if (!unchanged) last = await commitSave(tree, base);
    known = { tree, base, changes };
    return { ...(last as Save), unchanged, changes: changes.map(toChange), leftOut };
  }

  async function commitSave(tree: ObjectId, base: ObjectId): Promise<Save> {
    try {
      const carries = last?.base === base ? undefined : state.carries;
      return await makeSave(handle, { name, tree, base, last, carries, at: Date.now() });
    } catch (error) {
      // The ref may have moved although git failed.
      last = (await listSaves(handle, ref, 1).catch(() => []))[0] ?? last;
      throw error;
    }
  }

  /** What the index has, if it is whole: the last save, or the base. */
  async function lookUp(base: ObjectId): Promise<NonNullable<typeof known>> {
    const tree = await index.writeTree().catch(async (error: unknown) => {
      await makeIndexAgain(error);
      return index.writeTree();
    });
    return { tree, base, changes: await compare(handle, [base, tree]) };
  }

  async function stage(changes: readonly RawChange[], signal?: AbortSignal): Promise<Staged> {
    const filters = await depot.unknownFilters(state.base);
    const beforeChange = () => index.keep();
    const staging = { git, dir, index: files.index, folder, limits, filters, signal, beforeChange };
    const paths = changes.map(({ path }) => path);
    try {
      await index.settle();
      return await stageFolder(staging, paths);
    } catch (error) {
      await makeIndexAgain(error);
      const { leftOut } = await stageFolder(staging, paths);
      return { isTouched: true, leftOut };
    }
  }

  function makeIndexAgain(error: unknown): Promise<void> {
    return index.makeAgain(error, trees());
  }

  /** What an index can be made from. */
  function trees(): ObjectId[] {
    return [...(last ? [last.tree] : []), state.base];
  }

  /** Saves and brings the folder to a tree. After a kill, the same again gives the same result. */
  async function lay(
    moving: NonNullable<State['moving']>,
    { ifSaved, signal }: { ifSaved?: ObjectId; signal?: AbortSignal | undefined } = {},
  ): Promise<Saved> {
    const { to: tree, base, carries } = moving;
    const saved = await save(signal);
    if (ifSaved !== undefined && saved.commit !== ifSaved) return saved;
    const changes = await compare(handle, [saved.tree, tree], { signal });
    if (state.moving) await clearWay(folder, changes, { places, label });
    else await requireFree(folder, changes);
    await requireInPlace(folder);
    const isLeft = base === saved.base && tree !== saved.tree && carries !== saved.commit;
    if (isLeft && !state.moving) await leaveSave(handle, name, saved);
    // Until HEAD in the agent's `.git` is replaced, too, the next daemon begins here again.
    await keep({ ...state, moving });
    known = undefined;
    if (tree !== saved.tree) await moveFiles(saved.tree, tree);
    await replaceHead(folder, dotGit(base));
    const { moving: _moving, carries: _carries, ...rest } = state;
    await keep({ ...rest, base, ...(carries !== undefined && { carries }) });
    return saved;
  }

  async function moveFiles(from: ObjectId, to: ObjectId): Promise<void> {
    index.unsettle();
    try {
      await git.run(place, ['read-tree', '-m', '-u', from, to]);
    } catch (error) {
      // Git looks at everything before it changes anything, so after such a refusal nothing has changed.
      const { moving: _, ...before } = state;
      if (error instanceof GitError && error.code === 'conflict') await keep(before);
      throw error;
    }
    await markSubmodules({ git, dir, index: files.index, folder });
  }

  function dotGit(base: ObjectId) {
    return { handle, places, checkout, index: files.index, base };
  }

  /** The agent may have removed its `.git`. */
  async function ensureDotGit(): Promise<void> {
    if (await isFolder(`${folder}/.git`)) return;
    // Only an index that can be read is worth a copy.
    known = await lookUp(state.base);
    await replaceHead(folder, dotGit(state.base));
  }

  async function close({ tip, landed = [] }: Parameters<Workspace['close']>[0]): Promise<Closed> {
    if (await isInPlace(folder)) {
      await ensure();
      await save();
    }
    const ends = [...(last ? [{ ref, commit: last.commit }] : []), ...(await listEarlier(handle, name))];
    const kept = (await findOpenWork(handle, ends, { tip, landed })).map(keptAs);
    await handle.changeRefs([
      ...kept.map(({ ref: keeps, commit }) => ({ ref: keeps, to: commit })),
      ...ends.map((end) => ({ ref: end.ref, to: undefined, from: end.commit })),
    ]);
    isClosed = true;
    forget();
    await clearPlace(places, folder, label);
    const trash = await putAway(places, folder, label);
    await rm(about, { recursive: true, force: true });
    return { ...(kept[0] && { kept: kept[0] }), ...(trash !== undefined && { trash }) };
  }

  function keptAs(save: Save): KeptWork {
    return { ...name, ...save, ref: `refs/kept/${name.team}/${name.member}/${save.commit}` };
  }
}

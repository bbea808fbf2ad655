import { lstat } from 'node:fs/promises';
import { TeamError } from '../../core/errors.ts';
import { asStorageError } from '../../core/file-errors.ts';
import type { Checkout } from '../checkout.ts';
import type { Depot } from '../depot.ts';
import { compare } from '../depot/compare.ts';
import { leaveSave, listAllSaves, listEarlier, savesRef } from '../depot/saves.ts';
import { GitError } from '../git-errors.ts';
import { requireId } from '../git.ts';
import { inFolder, joinZero, toBytes } from '../paths.ts';
import { isFolder, putAway } from '../places.ts';
import type { Places } from '../places.ts';
import { openQueue } from '../queue.ts';
import { removeFolder } from '../remove-folder.ts';
import { sizeOf } from '../sizes.ts';
import { markSubmodules } from '../submodules.ts';
import type {
  Closed,
  KeptWork,
  LeftOut,
  LeftOutReason,
  MoveOptions,
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
import { clearWay, moveToTrash, requireFree } from './in-the-way.ts';
import { openIndex } from './index-file.ts';
import { findOpenWork } from './open-work.ts';
import { listNames, reviewSave } from './review.ts';
import { openSaver } from './saver.ts';
import { filesIn, readState, writeState } from './state.ts';
import type { State } from './state.ts';
import { findUnsaved } from './unsaved.ts';

/** Why a file of the project is in no save, if git can write that file again. */
const RESTORED: readonly LeftOutReason[] = ['file-size', 'work-size', 'special-file'];

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
  const now = () => ({ state, limits });
  const saver = await openSaver({ depot, name, folder, index, indexPath: files.index, copiedPath: files.copied, now });
  let isClosed = false;
  await index.unlock();
  await index.ensureWhole(saver.trees());
  if (state.moving) await lay(state.moving);
  else await ensureDotGit();

  /** For what works also without the folder. */
  const callAnywhere = <R>(work: () => Promise<R>): Promise<R> =>
    one(async () => {
      if (isClosed) throw new TeamError('conflict', `The workspace of ${name.member} is closed: open it again`);
      try {
        await index.unlock();
        return await work();
      } catch (error) {
        throw asStorageError(error);
      }
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
    save: saveFirst,
    saves: (limit) => callAnywhere(() => listAllSaves(handle, name, limit)),
    review: async (save) => {
      const { carries } = state;
      const laid = carries === undefined ? [] : await listAllSaves(handle, name);
      return reviewSave(handle, { places, save, laid: laid.find(({ commit }) => commit === carries) });
    },
    unsaved: (since) =>
      call(() => findUnsaved({ handle, index: files.index, folder, base: state.base }, requireId(since))),
    refresh: (tip, moving) => call(async () => lay({ to: await handle.treeOf(tip), base: requireId(tip) }, moving)),
    lay: (tree, base, moving = {}) =>
      call(async () => {
        const { commit: carries } = await saver.save(moving.signal);
        return lay({ to: await handle.treeOf(tree), base: requireId(base), carries }, moving);
      }),
    discard: (leftOut) => call(() => discard(leftOut)),
    restore: (commit, signal) =>
      call(async () => {
        const wanted = (await listAllSaves(handle, name)).find((saved) => saved.commit === commit);
        if (wanted) return lay({ to: wanted.tree, base: wanted.base, carries: wanted.carries }, { signal });
        throw new TeamError('not_found', `${name.member} has no save ${commit}`);
      }),
    needsSetup: async (what) => state.prepared !== what,
    setupDone: (what) => call(() => keep({ ...state, prepared: what })),
    forgetSetup: () => call(() => keep({ ...state, prepared: undefined })),
    get tasks() {
      return state.tasks;
    },
    workOn: (tasks) => call(() => keep({ ...state, tasks: [...tasks] })),
    size: async () => ((await isInPlace(folder)) ? sizeOf(folder) : 0),
    close: (closing) => callAnywhere(() => close(closing)),
    use: (settings) => void ({ checkout, limits } = settings),
    // Without the queue, as long as the folder is there: a save may take a while.
    ensure: async () => ((await isInPlace(folder)) ? undefined : call(async () => {})),
  };

  /** Answers as soon as the save is durable. The next call waits until the index has it, too. */
  async function saveFirst(signal?: AbortSignal): Promise<Saved> {
    const { promise, resolve, reject } = Promise.withResolvers<Saved>();
    const done = call(async () => {
      resolve(await saver.saveFirst(signal));
      await saver.catchUp();
    });
    done.catch(reject);
    return promise;
  }

  async function ensure(): Promise<void> {
    if (!(await isInPlace(folder))) {
      const { tasks } = state;
      opened = await makeAgain(state.base, { checkout });
      state = await requireState();
      if (tasks) await keep({ ...state, tasks });
      await saver.reload();
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

  /** Saves and brings the folder to a tree. After a kill, the same again gives the same result. */
  async function lay(
    moving: NonNullable<State['moving']>,
    { ifSaved, onInTheWay, signal }: Omit<MoveOptions, 'signal'> & { signal?: AbortSignal | undefined } = {},
  ): Promise<Saved> {
    const { to: tree, base, carries } = moving;
    const saved = await saver.save(signal);
    if (ifSaved !== undefined && saved.commit !== ifSaved) return saved;
    const changes = await compare(handle, [saved.tree, tree], { signal });
    if (state.moving || onInTheWay) {
      const cleared = await clearWay(folder, changes, { places, label });
      if (cleared.length > 0) onInTheWay?.(cleared);
    } else await requireFree(folder, changes);
    await requireInPlace(folder);
    const isLeft = base === saved.base && tree !== saved.tree && carries !== saved.commit;
    if (isLeft && !state.moving) await leaveSave(handle, name, saved);
    // Until HEAD in the agent's `.git` is replaced, too, the next daemon begins here again.
    await keep({ ...state, moving });
    saver.forget();
    if (tree !== saved.tree) await moveFiles(saved.tree, tree);
    await replaceHead(folder, dotGit(base));
    await keep({ ...state, moving: undefined, base, carries });
    return saved;
  }

  async function discard(leftOut: readonly LeftOut[]): Promise<string[]> {
    if (leftOut.length === 0) return [];
    const known = new Set(await listNames(handle.askLasting, await handle.treeOf(state.base)));
    const paths: string[] = [];
    for (const { path, reason } of leftOut) {
      // A repository inside the folder may be named with a slash at its end.
      const name = path.replace(/\/$/, '');
      const stays = reason === 'copied' || (known.has(name) && !RESTORED.includes(reason));
      if (!stays && (await lstat(inFolder(folder, toBytes(name))).catch(() => undefined))) paths.push(name);
    }
    await moveToTrash(folder, paths.map(toBytes), { places, label });
    const back = paths.filter((path) => known.has(path)).map(toBytes);
    index.unsettle();
    await git.run(place, ['checkout-index', '-q', '-f', '-z', '--stdin'], { input: joinZero(back) });
    return paths;
  }

  async function moveFiles(from: ObjectId, to: ObjectId): Promise<void> {
    index.unsettle();
    try {
      await git.run(place, ['read-tree', '-m', '-u', from, to]);
    } catch (error) {
      // Git looks at everything before it changes anything, so after such a refusal nothing has changed.
      if (error instanceof GitError && error.code === 'conflict') await keep({ ...state, moving: undefined });
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
    await saver.lookUp();
    await replaceHead(folder, dotGit(state.base));
  }

  async function close({ tip, landed = [] }: Parameters<Workspace['close']>[0]): Promise<Closed> {
    if (await isInPlace(folder)) {
      await ensure();
      await saver.save();
    }
    const { last } = saver;
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
    await removeFolder(about);
    return { kept: kept[0], trash };
  }

  function keptAs(save: Save): KeptWork {
    return { ...name, ...save, ref: `refs/kept/${name.team}/${name.member}/${save.commit}` };
  }
}

import { TeamError } from '../../core/errors.ts';
import type { Depot } from '../depot.ts';
import { compare, toChange } from '../depot/compare.ts';
import type { RawChange } from '../depot/compare.ts';
import { listSaves, makeSave, savesRef } from '../depot/saves.ts';
import { mergeSmallPacks } from '../depot/small-packs.ts';
import { findDifferences, lookAt, stageFolder, takeDifferences } from '../stage.ts';
import type { Differences, Staged, Staging } from '../stage.ts';
import type { ObjectId, Save, Saved, WorkLimits, WorkspaceName } from '../workspace.ts';
import { requireInPlace } from './in-place.ts';
import type { IndexFile } from './index-file.ts';
import { saveQuickly } from './quick-save.ts';
import type { QuicklySaved } from './quick-save.ts';
import { readCopied } from './state.ts';
import type { State } from './state.ts';

/** What a workspace is saved with. */
export interface SaverOptions {
  readonly depot: Depot;
  readonly name: WorkspaceName;
  readonly folder: string;
  readonly index: IndexFile;
  readonly indexPath: string;
  /** Where the ignored files are listed that came from the checkout. */
  readonly copiedPath: string;
  /** What holds now: the base, and the limits. */
  readonly now: () => { readonly state: State; readonly limits: WorkLimits };
}

/** Saves a folder. One call at a time. */
export interface Saver {
  readonly last: Save | undefined;
  /** Looks up the last save again, as after the folder was made again. */
  reload(): Promise<void>;
  /** The index is about to change. Written twice within a tick of the disk's clock, its file might look the same. */
  forget(): void;
  /** Looks up what the index has. A damaged one is made again. */
  lookUp(): Promise<void>;
  /** Saves the folder. Afterwards the index has the save. */
  save(signal?: AbortSignal): Promise<Saved>;
  /** Saves the folder as quickly as it can be done. The index may not have the save until `catchUp`. */
  saveFirst(signal?: AbortSignal): Promise<Saved>;
  /**
   * Brings the index to the save, if need be. Nobody is told of a failure: the next save finds in the index what it has,
   * compares the folder with that, and is right.
   */
  catchUp(): Promise<void>;
  /** What an index can be made from. */
  trees(): ObjectId[];
}

/** After so many quick saves that differ from what git makes of the same files, this folder is saved as usual. */
const MOST_DOUBTS = 3;

/** Opens what saves a folder. */
export async function openSaver(options: SaverOptions): Promise<Saver> {
  const { depot, name, folder, index, indexPath, copiedPath, now } = options;
  const { handle } = depot;
  const { git, dir } = handle;
  const ref = savesRef(name);
  let last: Save | undefined;
  let copied: ReadonlySet<string> = new Set();
  /** What the index had when that was last looked up, and how that differs from the base. */
  let known: Known | undefined;
  /** What was saved and is not in the index yet. */
  let ahead: { readonly found: Differences; readonly saved: QuicklySaved } | undefined;
  let doubts = 0;
  await reload();

  return {
    get last() {
      return last;
    },
    reload,
    forget: () => void (known = undefined),
    async lookUp() {
      known = await lookUp();
    },
    save: (signal) => save({ signal, isQuick: false }),
    saveFirst: (signal) => save({ signal, isQuick: true }),
    catchUp,
    trees,
  };

  async function reload(): Promise<void> {
    [last] = await listSaves(handle, ref, 1);
    copied = await readCopied(copiedPath);
  }

  /** The ref may have moved although git failed. */
  async function lookAgain(): Promise<void> {
    [last = last] = await listSaves(handle, ref, 1).catch(() => []);
  }

  async function save(how: How): Promise<Saved> {
    try {
      return await saveFolder(how);
    } finally {
      index.forget();
    }
  }

  async function saveFolder({ signal, isQuick }: How): Promise<Saved> {
    const { base } = now().state;
    const before = await lookUp();
    const staging = await stagingOf(before, signal);
    const { found, isMade } = await look(staging);
    const quick = isQuick && !isMade ? await tryQuickly(before, found, signal) : undefined;
    if (quick) return answer(quick, found);
    const { isTouched, leftOut } = await take(staging, found, isMade);
    // What came through a link is no work of the member.
    await requireInPlace(folder);
    const { tree, changes } = isTouched ? await index.compare(base, signal) : before;
    const hasOwn = last?.base === base;
    // A folder as its base has it needs no commit: the base is its save.
    if (!hasOwn && changes.length === 0) {
      known = await knowing({ tree, base, changes });
      return { commit: base, tree, base, at: Date.now(), unchanged: true, changes: [], leftOut };
    }
    const unchanged = hasOwn && last?.tree === tree;
    if (!unchanged) last = await commitSave(tree, base);
    known = await knowing({ tree, base, changes });
    return { ...(last as Save), unchanged, changes: changes.map(toChange), leftOut };
  }

  /** Undefined if that is not possible; then nothing was saved. */
  async function tryQuickly(
    before: Known,
    found: Differences,
    signal: AbortSignal | undefined,
  ): Promise<QuicklySaved | undefined> {
    if (last?.base !== before.base || last.tree !== before.tree || doubts >= MOST_DOUBTS) return undefined;
    if (found.files.length + found.gone.length === 0) return undefined;
    await requireInPlace(folder);
    try {
      return await saveQuickly({ handle, name, folder, last, changes: before.changes, found, signal });
    } catch (error) {
      await lookAgain();
      if (!(error instanceof TeamError)) throw error;
      // The usual way may do without what failed, or says better what is wrong.
      return undefined;
    }
  }

  function answer(saved: QuicklySaved, found: Differences): Saved {
    const unchanged = saved.save === last;
    last = saved.save;
    ahead = { found, saved };
    return { ...saved.save, unchanged, changes: saved.changes.map(toChange), leftOut: found.leftOut };
  }

  async function catchUp(): Promise<void> {
    if (!ahead) return;
    const { found, saved } = ahead;
    ahead = undefined;
    const { base, tree } = saved.save;
    try {
      await requireInPlace(folder);
      const { staging } = await stagingOf({ base, changes: [] });
      await takeDifferences(staging, found);
      // A file may have changed again since it was saved. Then the index has that, and the next save finds it there.
      if ((await index.writeTree()) === tree) known = await knowing({ tree, base, changes: saved.changes });
      else if (found.files.every(({ path, changedAt }) => lookAt(folder, path)?.ctimeMs === changedAt)) doubts++;
      await mergeSmallPacks(handle);
    } catch {
      // A full disk, or a damaged index: the next save meets the same and says so.
    } finally {
      index.forget();
    }
  }

  async function commitSave(tree: ObjectId, base: ObjectId): Promise<Save> {
    try {
      const carries = last?.base === base ? undefined : now().state.carries;
      return await makeSave(handle, { name, tree, base, last, carries, at: Date.now() });
    } catch (error) {
      await lookAgain();
      throw error;
    }
  }

  /** What the index has, if it is whole: the last save, or the base. It is known as long as nothing writes the file. */
  async function lookUp(): Promise<Known> {
    const { base } = now().state;
    if (known?.base === base && known.sign === (await index.sign())) return known;
    const tree = await index.writeTree().catch(async (error: unknown) => {
      await makeIndexAgain(error);
      return index.writeTree();
    });
    // After a folder was made or brought to a tip, the index has what the base has.
    const isBase = tree === (await handle.treeOf(base));
    return knowing({ tree, base, changes: isBase ? [] : await compare(handle, [base, tree]) });
  }

  async function knowing(what: Omit<Known, 'sign'>): Promise<Known> {
    return { ...what, sign: await index.sign() };
  }

  async function stagingOf({ base, changes }: Pick<Known, 'base' | 'changes'>, signal?: AbortSignal): Promise<Stage> {
    const filters = await depot.unknownFilters(base);
    const beforeChange = () => index.keep();
    const { limits } = now();
    const staging = { git, dir, index: indexPath, folder, limits, filters, copied, signal, beforeChange };
    return { staging, prior: changes.map(({ path }) => path) };
  }

  /** What differs, and whether the index had to be made again to tell. */
  async function look({ staging, prior }: Stage): Promise<{ found: Differences; isMade: boolean }> {
    try {
      await index.settle();
      return { found: await findDifferences(staging, prior), isMade: false };
    } catch (error) {
      await makeIndexAgain(error);
      return { found: await findDifferences(staging, prior), isMade: true };
    }
  }

  async function take({ staging, prior }: Stage, found: Differences, isMade: boolean): Promise<Staged> {
    try {
      const { isTouched, leftOut } = await takeDifferences(staging, found);
      return { isTouched: isTouched || isMade, leftOut };
    } catch (error) {
      await makeIndexAgain(error);
      const { leftOut } = await stageFolder(staging, prior);
      return { isTouched: true, leftOut };
    }
  }

  function makeIndexAgain(error: unknown): Promise<void> {
    return index.makeAgain(error, trees());
  }

  function trees(): ObjectId[] {
    return [...(last ? [last.tree] : []), now().state.base];
  }
}

/** What an index has, and how that differs from a base. */
interface Known {
  readonly tree: ObjectId;
  readonly base: ObjectId;
  readonly changes: readonly RawChange[];
  /** The index that has it. */
  readonly sign: string;
}

interface How {
  readonly signal: AbortSignal | undefined;
  readonly isQuick: boolean;
}

interface Stage {
  readonly staging: Staging;
  /** The paths that differ from the base already. */
  readonly prior: readonly Buffer[];
}

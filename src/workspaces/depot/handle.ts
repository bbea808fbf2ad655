import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from '../git-errors.ts';
import type { Git, GitOptions, GitResult } from '../git.ts';
import { readId, requireId } from '../git.ts';
import { LOCK, removeDebris, removeReports } from '../places.ts';
import { openQueue } from '../queue.ts';
import type { ObjectId } from '../workspace.ts';
import { removingDrafts } from './drafts.ts';
import { keepingAnswers } from './lasting.ts';
import { flushNames, flushRefs, moveLooseRef, readLooseRef } from './loose.ts';

/** One change of a ref. `from` is what it must be now: undefined for anything, empty for a ref that must not exist. */
export interface RefChange {
  readonly ref: string;
  /** Undefined removes the ref. */
  readonly to: ObjectId | undefined;
  readonly from?: ObjectId | undefined;
}

/** A `git fast-import` that waits for its commands. */
export interface Import {
  /** Makes commits, in one new pack, and moves a ref. All is durable when it resolves, with what git printed. */
  commit(commands: Buffer, ref: string): Promise<string>;
  /** Nothing is to be imported, if it was not told what. */
  cancel(): void;
}

/** The depot's git directory, and the ways to use it that all parts share. */
export interface DepotHandle {
  readonly git: Git;
  readonly dir: string;
  /** Runs a command that needs neither an index nor a folder. */
  readonly run: (args: readonly string[], options?: GitOptions) => Promise<GitResult>;
  /** The same for a command that names nothing but full ids, and so always answers the same. Its answer may be kept. */
  readonly askLasting: (args: readonly string[], options?: GitOptions) => Promise<GitResult>;
  /** Changes refs, all or none. They are durable when it resolves. */
  changeRefs(changes: readonly RefChange[]): Promise<void>;
  /** Moves one ref to a commit that was just written. It is durable when it resolves. */
  advanceRef(change: { readonly ref: string; readonly to: ObjectId; readonly from: ObjectId }): Promise<void>;
  /** Starts `git fast-import`, which takes a moment, before it is known what to import. Ends with one of its calls. */
  openImport(signal?: AbortSignal): Import;
  /** What a ref names; undefined if it does not exist. */
  readRef(ref: string): Promise<ObjectId | undefined>;
  /** Runs work while no ref is changed. */
  readonly alone: <R>(work: () => Promise<R>) => Promise<R>;
  /** The tree of a commit, or the tree itself. Fails with `not_found`. */
  treeOf(id: ObjectId): Promise<ObjectId>;
}

/**
 * Depots in which a command was stopped or killed: it may have left locks. Other locks are of commands that somebody runs
 * there by hand, and git waits for those.
 */
const interrupted = new Set<string>();

const LOCKS_REFS = new Set<string | undefined>(['update-ref', 'pack-refs', 'fetch', 'fast-import']);

/** Without `done` at its end, a stream is cut off, and nothing of it counts. */
const IMPORT = ['fast-import', '--quiet', '--done', '--date-format=raw'];

/**
 * One flushed pack, however few objects it has; and names as they are given, also where disks ignore their case. A save is
 * quicker with little compression, by 1 to 2 ms of 40 for 20 files.
 */
const IMPORT_CONFIG = ['fastimport.unpackLimit=1', 'core.ignoreCase=false', 'pack.compression=1'];

/** The variables with which git finds the objects of a depot, too. */
export function borrowingFrom(dir: string): { readonly GIT_ALTERNATE_OBJECT_DIRECTORIES: string } {
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(dir, 'objects')) };
}

/** Opens the shared ways to use a depot. */
export function openHandle(anyGit: Git, dir: string, alone: DepotHandle['alone'] = openQueue()): DepotHandle {
  const git = removingDrafts(anyGit, dir);
  const run: DepotHandle['run'] = async (args, options) => {
    try {
      return await git.run({ dir }, args, options);
    } catch (error) {
      const isKilled = !(error instanceof GitError) || error.isKilled;
      if (isKilled && LOCKS_REFS.has(args[0])) interrupted.add(dir);
      throw error;
    }
  };
  const clear = async (): Promise<void> => {
    if (!interrupted.has(dir)) return;
    // Changes come one after the other, so a lock is what the stopped command has left.
    await removeDebris(join(dir, 'refs'), LOCK);
    await rm(join(dir, 'packed-refs.lock'), { force: true });
    interrupted.delete(dir);
  };
  const change = async (changes: readonly RefChange[]): Promise<void> => {
    const lines = changes.map(({ ref, to, from }) => {
      const old = from === undefined ? '' : from || '0'.repeat(to?.length ?? 40);
      return to === undefined ? `delete ${ref}\0${old}\0` : `update ${ref}\0${requireId(to)}\0${old}\0`;
    });
    await run(['update-ref', '-z', '--stdin'], { input: lines.join('') });
    const placed = changes.filter(({ to }) => to !== undefined);
    await flushRefs(
      dir,
      placed.map(({ ref }) => ref),
    );
  };
  const askLasting = keepingAnswers(run);
  return {
    git,
    dir,
    run,
    askLasting,
    alone,
    changeRefs: (changes) =>
      alone(async () => {
        if (changes.length === 0) return;
        await clear();
        await change(changes);
      }),
    advanceRef: (one) =>
      alone(async () => {
        await clear();
        if (await moveLooseRef(dir, one)) await flushRefs(dir, [one.ref]);
        else await change([one]);
      }),
    openImport(signal) {
      const stream = Promise.withResolvers<Buffer | undefined>();
      const turn = Promise.withResolvers<void>();
      async function* parts(): AsyncGenerator<Buffer | string> {
        const commands = await stream.promise;
        if (commands) {
          yield commands;
          // Until here no ref is moved, so others need not wait.
          await turn.promise;
        }
        yield 'done\n';
      }
      const importing = run(IMPORT, { input: parts(), config: IMPORT_CONFIG, signal });
      importing.catch(() => removeReports(dir));
      return {
        commit(commands, ref) {
          stream.resolve(commands);
          return alone(async () => {
            await clear();
            turn.resolve();
            const { out } = await importing;
            // A ref must never have its new name before the pack has.
            await flushNames(join(dir, 'objects', 'pack'));
            await flushRefs(dir, [ref]);
            return out.toString('latin1');
          });
        },
        cancel: () => stream.resolve(undefined),
      };
    },
    async readRef(ref) {
      const loose = await readLooseRef(dir, ref);
      if (loose !== undefined) return loose;
      const found = await run(['rev-parse', '--verify', '--quiet', '--end-of-options', ref], { exits: [0, 1] });
      return found.code === 0 ? readId(found) : undefined;
    },
    async treeOf(id) {
      return readId(await askLasting(['rev-parse', '--verify', '--end-of-options', `${requireId(id)}^{tree}`]));
    },
  };
}

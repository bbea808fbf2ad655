import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git, GitOptions, GitResult } from '../git.ts';
import { isId, readId, requireId } from '../git.ts';
import { openQueue } from '../queue.ts';
import type { ObjectId } from '../workspace.ts';

/** One change of a ref. `from` is what it must be now: undefined for anything, empty for a ref that must not exist. */
export interface RefChange {
  readonly ref: string;
  /** Undefined removes the ref. */
  readonly to: ObjectId | undefined;
  readonly from?: ObjectId | undefined;
}

/** The depot's git directory, and the ways to use it that all parts share. */
export interface DepotHandle {
  readonly git: Git;
  readonly dir: string;
  /** Runs a command that needs neither an index nor a folder. */
  readonly run: (args: readonly string[], options?: GitOptions) => Promise<GitResult>;
  /** Changes refs, all or none. They are durable when it resolves. */
  changeRefs(changes: readonly RefChange[]): Promise<void>;
  /** What a ref names; undefined if it does not exist. */
  readRef(ref: string): Promise<ObjectId | undefined>;
  /** Runs work while no ref is changed. */
  readonly alone: <R>(work: () => Promise<R>) => Promise<R>;
  /** The tree of a commit, or the tree itself. Fails with `not_found`. */
  treeOf(id: ObjectId): Promise<ObjectId>;
}

/** Opens the shared ways to use a depot. */
export function openHandle(git: Git, dir: string, alone: DepotHandle['alone'] = openQueue()): DepotHandle {
  const run: DepotHandle['run'] = (args, options) => git.run({ dir }, args, options);
  return {
    git,
    dir,
    run,
    alone,
    changeRefs: (changes) =>
      alone(async () => {
        if (changes.length === 0) return;
        // Changes come one after the other, so a lock is what a stopped command of ours has left.
        const locks = [...changes.map(({ ref }) => join(dir, `${ref}.lock`)), join(dir, 'packed-refs.lock')];
        for (const lock of locks) await rm(lock, { force: true });
        const lines = changes.map(({ ref, to, from }) => {
          const old = from === undefined ? '' : from || '0'.repeat(to?.length ?? 40);
          return to === undefined ? `delete ${ref}\0${old}\0` : `update ${ref}\0${requireId(to)}\0${old}\0`;
        });
        await run(['update-ref', '-z', '--stdin'], { input: lines.join('') });
      }),
    async readRef(ref) {
      const loose = await readLoose(dir, ref);
      if (loose !== undefined) return loose;
      const found = await run(['rev-parse', '--verify', '--quiet', '--end-of-options', ref], { exits: [0, 1] });
      return found.code === 0 ? readId(found) : undefined;
    },
    async treeOf(id) {
      return readId(await run(['rev-parse', '--verify', '--end-of-options', `${requireId(id)}^{tree}`]));
    },
  };
}

/**
 * What the file of a ref names: git replaces it as a whole, and a git process takes 7 ms. Undefined if only git can tell: the ref is
 * packed, leads to another one, is to be peeled, or does not exist.
 */
async function readLoose(dir: string, ref: string): Promise<ObjectId | undefined> {
  if (!/^refs(?:\/[\w.-]+)+$/.test(ref) || ref.includes('..')) return undefined;
  const text = (await readFile(join(dir, ref), 'latin1').catch(() => '')).trim();
  return isId(text) && !/^0+$/.test(text) ? text : undefined;
}

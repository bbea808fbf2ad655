import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TeamError } from '../../core/errors.ts';
import { GitError } from '../git-errors.ts';
import { requireId, splitLines } from '../git.ts';
import { inNewFolder } from '../places.ts';
import type { Places } from '../places.ts';
import type { ObjectId } from '../workspace.ts';
import { makeCommit } from './commit.ts';
import { borrowingFrom } from './handle.ts';
import type { DepotHandle } from './handle.ts';
import { flushNames } from './loose.ts';
import { TRAVEL_EMAIL } from './saves.ts';

/** The largest pack that travels to another machine, in bytes. Packs are held in memory, and in the journal's servers. */
export const PACK_BYTES = 256 * 1024 * 1024;

/** What a pack brings, and what its receiver has already. */
export interface PackContent {
  readonly want: readonly ObjectId[];
  /** Commits that are not here are ignored. */
  readonly have?: readonly ObjectId[];
  /** Only what is in these commits, without the commits before them. The receiver's depot begins with them. */
  readonly isFirst?: boolean;
}

/** A pack from another machine. */
export interface ArrivedPack {
  readonly bytes: Buffer;
  /** The SHA-256 that the journal names. */
  readonly hash: string;
  /** The commits that it must bring. */
  readonly want: readonly ObjectId[];
  /** Whether the depot begins with these commits, without the commits before them. */
  readonly isFirst?: boolean;
}

/** The name by which everyone checks a pack: its SHA-256. */
export function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The commits of a list that are here. */
export async function findCommits({ run }: DepotHandle, ids: readonly ObjectId[]): Promise<ObjectId[]> {
  if (ids.length === 0) return [];
  const input = ids.map((id) => `${requireId(id)}\n`).join('');
  const { out } = await run(['cat-file', '--batch-check=%(objectname) %(objecttype)'], { input });
  return splitLines(out).flatMap((line) => {
    const [id = '', type] = line.split(' ');
    return type === 'commit' ? id : [];
  });
}

/** Packs what its receiver lacks. The pack is thin: it names objects that the receiver has. */
export async function makePack(handle: DepotHandle, { want, have = [], isFirst }: PackContent): Promise<Buffer> {
  const { run } = handle;
  const ids = want.map(requireId);
  const words = ['pack-objects', '--stdout', '--quiet', '--delta-base-offset'];
  const options = { maxBytes: PACK_BYTES };
  try {
    if (isFirst) {
      const listed = await run(['rev-list', '--objects', '--no-walk', ...ids]);
      return (await run(words, { ...options, input: listed.out })).out;
    }
    const before = await findCommits(handle, have);
    const lines = [...ids, ...before.map((id) => `^${id}`)].map((line) => `${line}\n`);
    return (await run([...words, '--revs', '--thin'], { ...options, input: lines.join('') })).out;
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 'limit') throw error;
    const megabytes = PACK_BYTES / 1024 / 1024;
    throw new TeamError(
      'limit',
      `The changes are larger than ${megabytes} MB when packed, so they cannot go to other machines`,
    );
  }
}

/**
 * Takes in a pack, whole or not at all. Git checks every object of it in a folder apart (names such as `.git` and `..`,
 * links to what is missing) before the depot gets one of them. What it brought is durable, but a ref has to keep it.
 */
export async function takePack(
  { git, dir, alone }: DepotHandle,
  places: Places,
  { bytes, hash, want, isFirst }: ArrivedPack,
): Promise<void> {
  const ids = want.map(requireId);
  if (hashOf(bytes) !== hash) throw refusal(ids, `it is not the one that the journal names (SHA-256 ${hash})`);
  try {
    await inNewFolder(places, async (objects) => {
      // Git then looks for no parents of these commits.
      if (isFirst) await beginWith(dir, ids);
      const variables = { GIT_OBJECT_DIRECTORY: objects, ...borrowingFrom(dir) };
      await git.run({ dir }, ['index-pack', '--stdin', '--fix-thin', '--strict'], { input: bytes, variables });
      await checkAndMove({ git, dir, alone }, objects, ids);
    });
  } catch (error) {
    // Damage of a pack is no damage of the depot.
    if (error instanceof GitError && error.complaint !== '' && error.facts?.errno === undefined) {
      throw refusal(ids, `git refuses it: ${error.complaint.trim().split('\n').slice(-2).join('; ')}`, error);
    }
    throw error;
  }
}

/** Takes in packs that git has checked and stored in a folder apart, whole or not at all. */
export async function settlePack(
  { handle, objects }: { readonly handle: DepotHandle; readonly objects: string },
  { want, isFirst }: { readonly want: readonly ObjectId[]; readonly isFirst: boolean | undefined },
): Promise<void> {
  const ids = want.map(requireId);
  if (isFirst) await beginWith(handle.dir, ids);
  await checkAndMove(handle, objects, ids);
}

/** Lets a depot have these commits without the ones before them. */
async function beginWith(dir: string, ids: readonly ObjectId[]): Promise<void> {
  await writeFile(join(dir, 'shallow'), ids.map((id) => `${id}\n`).join(''));
}

/** It may be whole and still not bring what it should. */
async function checkAndMove(
  { git, dir, alone }: Pick<DepotHandle, 'git' | 'dir' | 'alone'>,
  objects: string,
  ids: readonly ObjectId[],
): Promise<void> {
  const variables = { GIT_OBJECT_DIRECTORY: objects, ...borrowingFrom(dir) };
  await git.run({ dir }, ['rev-list', '--objects', '--quiet', ...ids, '--not', '--all'], { variables });
  await alone(() => moveIn(join(objects, 'pack'), join(dir, 'objects', 'pack')));
}

/** Git looks for packs by their index, so that comes last. */
async function moveIn(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const packs = (await readdir(from)).filter((name) => /^pack-[0-9a-f]+\.(?:pack|idx|rev)$/.test(name));
  const names = packs.sort((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')));
  for (const name of names) await rename(join(from, name), join(to, name));
  await flushNames(to);
}

/**
 * The commit in which a save travels: the same files on the same base, without the saves before it. The same save always
 * gives the same commit.
 */
export async function flattenSave(
  handle: DepotHandle,
  { commit, base, name }: { commit: ObjectId; base: ObjectId; name: string },
): Promise<ObjectId> {
  const tree = await handle.treeOf(commit);
  const { out } = await handle.askLasting([
    'rev-list',
    '--no-walk',
    '--no-commit-header',
    '--format=%ct',
    requireId(commit),
  ]);
  const author = { name, email: TRAVEL_EMAIL };
  return makeCommit(handle, {
    tree,
    parents: [base],
    message: `Work of ${name}`,
    author,
    at: Number(out.toString()) * 1000,
  });
}

/** The first commits of a history: clones of one repository share them. */
export async function findRoots({ run }: DepotHandle, commit: ObjectId): Promise<ObjectId[]> {
  const { out } = await run(['rev-list', '--max-parents=0', requireId(commit)]);
  return splitLines(out).sort();
}

function refusal(ids: readonly ObjectId[], why: string, cause?: unknown): TeamError {
  const what = ids.map((id) => id.slice(0, 7)).join(', ');
  return new TeamError('corrupt', `The pack with ${what} was not taken in, and nothing was changed: ${why}`, { cause });
}

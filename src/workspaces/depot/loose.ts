import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { TeamError } from '../../core/errors.ts';
import { isId } from '../git.ts';
import type { ObjectId } from '../workspace.ts';

// Files of a depot that are read and written without git. Starting a git process stops a daemon of 130 MB for 4 ms, and
// the process itself needs 3 ms more: a commit and a ref are a sixth of a save. Git sees them as its own.

/**
 * What the file of a ref names: git replaces it as a whole. Undefined if only git can tell: the ref is packed, leads to
 * another one, is to be peeled, or does not exist.
 */
export async function readLooseRef(dir: string, ref: string): Promise<ObjectId | undefined> {
  if (!/^refs(?:\/[\w.-]+)+$/.test(ref) || ref.includes('..')) return undefined;
  const text = (await readFile(join(dir, ref), 'latin1').catch(() => '')).trim();
  return isId(text) && !/^0+$/.test(text) ? text : undefined;
}

/**
 * Moves a ref by its file, as git does: a lock, flushed and renamed. The caller has removed locks that were left, and
 * changes no other ref meanwhile. False if only git can do it or explain why not, also if somebody else has the lock.
 */
export async function moveLooseRef(
  dir: string,
  { ref, to, from }: { ref: string; to: ObjectId; from: ObjectId },
): Promise<boolean> {
  const path = join(dir, ref);
  const lock = `${path}.lock`;
  try {
    await writeFlushed(lock, `${to}\n`);
  } catch (error) {
    if (error instanceof TeamError && ONLY_GIT.has(error.facts?.errno)) return false;
    throw error;
  }
  if ((await readLooseRef(dir, ref)) !== from) {
    await rm(lock, { force: true });
    return false;
  }
  await rename(lock, path).catch(async (error: unknown) => {
    await rm(lock, { force: true }).catch(() => {});
    refuse(path)(error);
  });
  return true;
}

/** Somebody else has the lock; or the ref is packed, and its folder is gone. */
const ONLY_GIT = new Set<unknown>(['EEXIST', 'ENOENT']);

/**
 * Makes new names in a folder durable: a flushed file that got its name just before a power cut may have none after it.
 * Not every disk can do that.
 */
export async function flushNames(folder: string): Promise<void> {
  try {
    await using opened = await open(folder);
    await opened.sync();
  } catch (error) {
    if (!UNFLUSHED.has((error as NodeJS.ErrnoException).code)) refuse(folder)(error);
  }
}

/** The disk cannot do it; or there is no such folder, because git keeps the names elsewhere, as refs in a table. */
const UNFLUSHED = new Set<string | undefined>(['EINVAL', 'ENOTSUP', 'ENOENT']);

/** The same for refs that were made or moved. */
export async function flushRefs(dir: string, refs: readonly string[]): Promise<void> {
  for (const folder of new Set(refs.map((ref) => dirname(join(dir, ref))))) await flushNames(folder);
}

/** Whether all these objects are files of their own, and not in a pack or missing. */
export function areLoose(dir: string, ids: readonly ObjectId[]): boolean {
  return ids.every((id) => existsSync(pathOf(dir, id)));
}

/** Writes a commit as a file of its own, durably, and returns its id. */
export async function writeLooseCommit(
  dir: string,
  { body, format }: { body: string; format: 'sha1' | 'sha256' },
): Promise<ObjectId> {
  const bytes = Buffer.from(body);
  const whole = Buffer.concat([Buffer.from(`commit ${bytes.length}\0`), bytes]);
  const id = createHash(format).update(whole).digest('hex');
  // The name that git gives to half-written objects: the next daemon removes them.
  const draft = join(dir, 'objects', `tmp_obj_${randomBytes(6).toString('hex')}`);
  await writeFlushed(draft, await compress(whole), 0o444);
  const path = pathOf(dir, id);
  await mkdir(join(path, '..'), { recursive: true }).catch(refuse(path));
  await rename(draft, path).catch(refuse(path));
  return id;
}

const compress = promisify(deflate);

function pathOf(dir: string, id: ObjectId): string {
  return join(dir, 'objects', id.slice(0, 2), id.slice(2));
}

async function writeFlushed(path: string, content: Buffer | string, mode = 0o644): Promise<void> {
  try {
    await using file = await open(path, 'wx', mode);
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    // A full disk has no room for half of it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(path, { force: true }).catch(() => {});
    refuse(path)(error);
  }
}

function refuse(path: string): (error: unknown) => never {
  return (error) => {
    const { code, message } = error as NodeJS.ErrnoException;
    const facts = code === undefined ? {} : { facts: { errno: code } };
    throw new TeamError('storage', `Cannot write ${path}: ${message}`, { cause: error, ...facts });
  };
}

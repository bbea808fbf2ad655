import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RawChange } from '../depot/compare.ts';
import type { DepotHandle } from '../depot/handle.ts';
import { importSave } from '../depot/saves.ts';
import type { Candidate, Differences } from '../stage.ts';
import type { ObjectId, Save, WorkspaceName } from '../workspace.ts';
import { findAttributes, MATTERS } from './plain-attributes.ts';
import { openPlainFiles } from './plain-file.ts';
import type { PlainFiles } from './plain-file.ts';

// The quick way to save: one `git fast-import` writes files, trees and the commit into a pack, flushes it and moves the
// ref. The usual way is `update-index`, `write-tree` and `diff-index`: three processes that read the whole index, two
// that write it, and a flush more. At 10,000 files that was half of a save.
//
// Only plain changes are saved so: names without anything that git could refuse or quote, and files that git stores
// byte for byte. For all others the caller takes the usual way. The index does not have the save afterwards, and must
// catch up before the next one. Then it is compared with the save, so a mistake made here is found.

/** A save to make from how a folder differs from its last one. */
export interface QuickSave {
  readonly handle: DepotHandle;
  readonly name: WorkspaceName;
  readonly folder: string;
  /** The save before, from the same base. The index has exactly its tree. */
  readonly last: Save;
  /** How the last save differs from the base. */
  readonly changes: readonly RawChange[];
  readonly found: Differences;
  readonly signal?: AbortSignal | undefined;
}

/** What was saved, and how it differs from the base. */
export interface QuicklySaved {
  readonly save: Save;
  readonly changes: readonly RawChange[];
}

/** More files than this, or more bytes, are not read here: the daemon does nothing else meanwhile. */
const MOST_FILES = 1_000;
const MOST_BYTES = 4 * 1024 * 1024;

/** Saves plain changes. Undefined, and nothing was done, if only the usual way can save them. */
export async function saveQuickly(quick: QuickSave): Promise<QuicklySaved | undefined> {
  const { handle, name, last, found, signal } = quick;
  if (!maybePlain(found)) return undefined;
  // Git starts while the files are read.
  const importing = handle.openImport(signal);
  try {
    const steps = readSteps(quick);
    if (!steps) return undefined;
    const changes = addSteps(quick.changes, steps);
    // Files that were written again with the same content.
    if (steps.length === 0) return { save: last, changes };
    return { save: await importSave(importing, { name, last, at: Date.now(), files: writeFiles(steps) }), changes };
  } finally {
    importing.cancel();
  }
}

/** Whether names, number and sizes are plain. */
function maybePlain({ files, gone }: Differences): boolean {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length + gone.length > MOST_FILES || bytes > MOST_BYTES) return false;
  return files.every(({ path }) => isPlainName(path)) && gone.every(isPlainName);
}

/** One change since the last save. */
interface Step extends Pick<RawChange, 'path' | 'oldMode' | 'oldId' | 'newMode' | 'newId'> {
  /** Undefined if the path is gone. */
  readonly bytes?: Buffer;
}

const NO_MODE = '000000';

/** Reads what changed; undefined if something of it is not plain. */
function readSteps({ handle: { dir }, folder, last, found }: QuickSave): Step[] | undefined {
  const { files, gone, indexed } = found;
  const conversion = conversionIn(dir);
  if (conversion === 'unknown') return undefined;
  const nothing = { mode: NO_MODE, id: '0'.repeat(last.tree.length) };
  const plain = openPlainFiles(folder);
  const attributesOf = findAttributes(plain, dir);
  const steps: Step[] = [];
  const add = (path: Buffer, now: { mode: string; id: ObjectId; bytes?: Buffer }): void => {
    const { oldMode, oldId } = indexed(path) ?? { oldMode: nothing.mode, oldId: nothing.id };
    if (oldMode === now.mode && oldId === now.id) return;
    steps.push({ path, oldMode, oldId, newMode: now.mode, newId: now.id, ...(now.bytes && { bytes: now.bytes }) });
  };
  for (const path of gone) add(path, nothing);
  for (const candidate of files) {
    const file = readStored(plain, candidate, { attributesOf, isConverted: conversion === 'lines' });
    if (!file) return undefined;
    add(candidate.path, { ...file, id: blobId(file.bytes, last.tree.length) });
  }
  return steps;
}

/** Letters, digits and most signs of ASCII, but nothing that may be `.git` anywhere, an escape, or the end of a line. */
function isPlainName(path: Buffer): boolean {
  const text = path.toString('latin1');
  if (!/^[\w !#$%&'()+,\-./:;=@[\]^`{}]+$/.test(text)) return false;
  return text.split('/').every((part) => !/^(?:\.{0,2}|\.git.*)$/i.test(part) || PLAIN_GIT_NAMES.has(part));
}

const PLAIN_GIT_NAMES = new Set(['.github', '.gitignore', '.gitkeep']);

/** What the settings of the depot, which come from the checkout, do to files: nothing, to their ends of lines, or more. */
function conversionIn(dir: string): 'none' | 'lines' | 'unknown' {
  const config = readFileSync(join(dir, 'config'), 'latin1');
  if (/(?:filemode|symlinks)\s*=\s*false|safecrlf|include/i.test(config)) return 'unknown';
  return /autocrlf|eol/i.test(config) ? 'lines' : 'none';
}

const RETURN = 13;

/** A file as git stores it; undefined if git has to convert it, or if it is no file any more. */
function readStored(
  plain: PlainFiles,
  { path, size }: Candidate,
  { attributesOf, isConverted }: { attributesOf: ReturnType<typeof findAttributes>; isConverted: boolean },
): { mode: string; bytes: Buffer } | undefined {
  const text = path.toString('latin1');
  const file = plain.read(text, size);
  if (!file || file.mode === '120000') return file;
  const attributes = attributesOf(text);
  if (attributes === MATTERS) return undefined;
  const mayChange = isConverted || attributes !== undefined;
  return mayChange && file.bytes.includes(RETURN) ? undefined : file;
}

function blobId(bytes: Buffer, idLength: number): ObjectId {
  const hash = createHash(idLength === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** The changes for `git fast-import`: first what is gone, since a file may be where a folder was, or the other way. */
function writeFiles(steps: readonly Step[]): Buffer[] {
  return [...steps]
    .sort((a, b) => Number(a.bytes !== undefined) - Number(b.bytes !== undefined))
    .flatMap(({ path, newMode, bytes }) => {
      const name = path.toString('latin1');
      if (!bytes) return Buffer.from(`D ${name}\n`);
      return [Buffer.from(`M ${newMode} inline ${name}\ndata ${bytes.length}\n`), bytes, Buffer.from('\n')];
    });
}

/** How the new save differs from the base, if one knows it of the last. A path that is in neither is as it was there. */
export function addSteps(changes: readonly RawChange[], steps: readonly Step[]): RawChange[] {
  const all = new Map(changes.map((change) => [change.path.toString('latin1'), change]));
  for (const { path, newMode, newId, ...before } of steps) {
    const key = path.toString('latin1');
    const { oldMode, oldId } = all.get(key) ?? before;
    if (oldMode === newMode && oldId === newId) all.delete(key);
    else all.set(key, { path, status: statusOf(oldMode, newMode), oldMode, newMode, oldId, newId });
  }
  return [...all.values()].sort((a, b) => Buffer.compare(a.path, b.path));
}

function statusOf(from: string, to: string): RawChange['status'] {
  if (from === NO_MODE) return 'added';
  if (to === NO_MODE) return 'deleted';
  return from.slice(0, 3) === to.slice(0, 3) ? 'modified' : 'type-changed';
}

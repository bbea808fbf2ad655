import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isInstalled } from '../depot/filters.ts';
import type { DepotHandle } from '../depot/handle.ts';
import { GitError } from '../git-errors.ts';
import { requireId, splitLines } from '../git.ts';
import type { ObjectId } from '../workspace.ts';
import type { ReachRun, Setting } from './settings.ts';
import { wordRefusal } from './words.ts';

/** What bringing large files (git-lfs) to or from a remote needs. */
export interface LargeFiles {
  readonly handle: DepotHandle;
  /** The repository in which git reaches the remote. */
  readonly draft: string;
  /** The remote. */
  readonly name: string;
  readonly base: ObjectId;
  readonly path: string;
  readonly run: ReachRun;
  readonly settings: readonly Setting[];
}

/** Which commits, and which ones the other side has. */
interface Between {
  readonly want: readonly ObjectId[];
  readonly have: readonly ObjectId[];
}

/** Larger files are no pointers, and smaller ones neither. */
const POINTER_BYTES = { least: 100, most: 1_024 };

const POINTER = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\n/;

/** Object ids in one command. */
const AT_ONCE = 200;

/** Brings the large files that commits add to the remote. Returns what could not go along, for people. */
export async function pushLargeFiles(files: LargeFiles, between: Between): Promise<string[]> {
  const { handle, name, run } = files;
  const added = await findPointers(handle, between);
  const here = [...added].filter((oid) => isHere(handle, oid));
  if (here.length === 0) return [];
  if (!(await isInstalled('git-lfs', files.path))) return [wordMissing(here, 'did not go along')];
  const options = await optionsFor(files);
  for (let i = 0; i < here.length; i += AT_ONCE) {
    await run(['lfs', 'push', '--object-id', name, ...here.slice(i, i + AT_ONCE)], options);
  }
  return [];
}

/** Brings the large files of commits here. Returns what could not come along, for people. */
export async function fetchLargeFiles(files: LargeFiles, between: Between): Promise<string[]> {
  const { handle, name, run } = files;
  const added = await findPointers(handle, between);
  const lacking = (): string[] => [...added].filter((oid) => !isHere(handle, oid));
  const before = lacking();
  if (before.length === 0) return [];
  if (!(await isInstalled('git-lfs', files.path))) return [wordMissing(before, 'did not come along')];
  let why = '';
  try {
    await run(['lfs', 'fetch', name, ...between.want.map(requireId)], await optionsFor(files));
  } catch (error) {
    // They stay pointers, as they do for a person without access to the server.
    why = ` (${error instanceof GitError ? wordRefusal(error).said : String(error)})`;
  }
  const after = lacking();
  return after.length === 0
    ? []
    : [`${largeFiles(after)} of ${name} did not come along: a pointer is in place of each${why}`];
}

function wordMissing(ids: readonly string[], what: string): string {
  return `${largeFiles(ids)} ${what}, because git-lfs is not installed on this machine`;
}

function largeFiles({ length }: readonly string[]): string {
  return `${length} large file${length === 1 ? '' : 's'} (git-lfs)`;
}

/** The pointers among the files that commits add. */
async function findPointers({ run }: DepotHandle, { want, have }: Between): Promise<Set<string>> {
  const lines = [...want.map(requireId), ...have.map((id) => `^${requireId(id)}`)].map((line) => `${line}\n`).join('');
  const listed = await run(['rev-list', '--objects', '--no-object-names', '--ignore-missing', '--stdin'], {
    input: lines,
  });
  const format = '--batch-check=%(objectname) %(objecttype) %(objectsize)';
  const sized = await run(['cat-file', format], { input: listed.out });
  const small = splitLines(sized.out).flatMap((line) => {
    const [id = '', type, size] = line.split(' ');
    const bytes = Number(size);
    return type === 'blob' && bytes >= POINTER_BYTES.least && bytes < POINTER_BYTES.most ? id : [];
  });
  const found = new Set<string>();
  if (small.length === 0) return found;
  const { out } = await run(['cat-file', '--batch'], { input: small.map((id) => `${id}\n`).join('') });
  for (let at = 0; at < out.length;) {
    const end = out.indexOf(10, at);
    const size = Number(out.toString('latin1', at, end).split(' ')[2]);
    const [, oid] = POINTER.exec(out.toString('latin1', end + 1, end + 1 + size)) ?? [];
    if (oid !== undefined) found.add(oid);
    at = end + 1 + size + 1;
  }
  return found;
}

function isHere({ dir }: DepotHandle, oid: string): boolean {
  return existsSync(join(dir, 'lfs', 'objects', oid.slice(0, 2), oid.slice(2, 4), oid));
}

/** Large files are the depot's. Where their server is, the project may say in a file: as the person had it. */
async function optionsFor({ handle, draft, base, settings }: LargeFiles) {
  // A setting would hold at the other end, too, if that is on this disk.
  await mkdir(join(handle.dir, 'lfs'), { recursive: true });
  await symlink(join(handle.dir, 'lfs'), join(draft, 'lfs'));
  const blob = ['config', '--blob', `${requireId(base)}:.lfsconfig`, '--list', '-z'];
  const { code, out } = await handle.run(blob, { exits: [0, 1, 128, 129] });
  const named = (code === 0 ? out.toString().split('\0') : []).flatMap((entry): Setting[] => {
    const [key = '', value = ''] = entry.split('\n');
    // The user's own settings come first.
    return /^lfs\.(?:url|pushurl)$/.test(key) && !settings.some(([other]) => other === key) ? [[key, value]] : [];
  });
  return { settings: named, config: ['lfs.locksverify=false'] };
}

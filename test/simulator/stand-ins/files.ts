// Stands in for node:fs in the bridge: the files of a simulated native team.
import type { BigIntStats, Stats } from 'node:fs';
import { constants } from 'node:fs';
import { FileSystem, systemError } from '../native/file-system.ts';
import type { Node } from '../native/file-system.ts';
import { scheduler } from '../scheduler.ts';
import type { Owner } from '../scheduler.ts';

export { constants } from 'node:fs';

/** The process was killed: nothing that it does after this has an effect. */
export class Killed extends Error {}

/** How a call of the daemon fails. */
interface Trouble {
  /** The probability that a read or a write fails. */
  readonly read: number;
  readonly write: number;
  readonly code: string;
}

/** The disk of this run, and what goes wrong with it. */
export const disk = {
  files: new FileSystem(),
  trouble: undefined as Trouble | undefined,
  /** After how many calls the daemon is killed. */
  killAfter: Infinity,
  kill: (_owner: Owner): void => {},
  /** Called before each call of a daemon: other processes go on meanwhile. */
  meanwhile: (): void => {},
  /** Called after a daemon replaced a file. */
  replaced: (_path: string, _before: string | undefined): void => {},
  /** Called before a daemon removes a directory. */
  removing: (_path: string, _node: Node): void => {},
  reset(): void {
    this.files = new FileSystem();
    this.trouble = undefined;
    this.killAfter = Infinity;
    this.kill = () => {};
    this.meanwhile = () => {};
    this.replaced = () => {};
    this.removing = () => {};
  },
};

/** What happens before a call: others go on, the process may be killed, the disk may fail. */
function begin(kind: 'look' | 'read' | 'write', call: string, path: string): void {
  const owner = scheduler.owner();
  if (!owner.isAlive) throw new Killed();
  disk.meanwhile();
  if (--disk.killAfter <= 0) {
    disk.killAfter = Infinity;
    disk.kill(owner);
    throw new Killed();
  }
  const chance = kind === 'look' ? 0 : (disk.trouble?.[kind] ?? 0);
  if (chance > 0 && scheduler.random('disk').chance(chance)) throw systemError(disk.trouble?.code ?? '', call, path);
}

interface Open {
  readonly path: string;
  readonly node: Node;
}

const open = new Map<number, Open>();
let lastFile = 100;

function opened(file: number, call: string): Open {
  const found = open.get(file);
  if (!found) throw systemError('EBADF', call, String(file));
  return found;
}

export function openSync(path: string, flags: number | string, mode?: number): number {
  const bits = flags === 'wx' ? constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL : Number(flags);
  const make = (bits & constants.O_CREAT) !== 0;
  begin(make ? 'write' : 'read', 'open', path);
  const exclusive = (bits & constants.O_EXCL) !== 0;
  const node = disk.files.open(path, { make, exclusive, ...(mode !== undefined && { mode }) });
  open.set(++lastFile, { path, node });
  return lastFile;
}

export function closeSync(file: number): void {
  open.delete(file);
}

export function readSync(file: number, buffer: Buffer, offset: number, length: number, position: number): number {
  const { node, path } = opened(file, 'read');
  begin('read', 'read', path);
  return node.bytes?.copy(buffer, offset, position, position + length) ?? 0;
}

export function writeSync(file: number, data: Buffer | string, at = 0): number {
  const { node, path } = opened(file, 'write');
  begin('write', 'write', path);
  const rest = Buffer.from(data).subarray(at);
  const random = scheduler.random('disk');
  // A write may be short.
  const length = rest.length > 1 && random.chance(0.05) ? 1 + random.below(rest.length - 1) : rest.length;
  disk.files.write(path, node, Buffer.concat([node.bytes ?? Buffer.alloc(0), rest.subarray(0, length)]));
  return length;
}

export function readFileSync(path: string, _encoding: 'utf8'): string {
  begin('read', 'open', path);
  const node = disk.files.open(path);
  if (!node.bytes) throw systemError('EISDIR', 'read', path);
  return node.bytes.toString();
}

interface LookOptions {
  readonly bigint?: boolean;
  readonly throwIfNoEntry?: boolean;
}

export function lstatSync(path: string, options: LookOptions = {}): Stats | BigIntStats | undefined {
  begin('look', 'lstat', path);
  const node = disk.files.find(path);
  if (node) return statsOf(node, options.bigint);
  if (options.throwIfNoEntry === false) return undefined;
  throw systemError('ENOENT', 'lstat', path);
}

export function fstatSync(file: number, options: LookOptions = {}): Stats | BigIntStats {
  const { node, path } = opened(file, 'fstat');
  begin('look', 'fstat', path);
  return statsOf(node, options.bigint);
}

function statsOf({ ino, birth, mtime, mode, bytes }: Node, bigint = false): Stats | BigIntStats {
  const of = (number: bigint): bigint | number => (bigint ? number : Number(number));
  return {
    ino: of(ino),
    size: of(BigInt(bytes?.length ?? 4_096)),
    mode: of(BigInt(mode)),
    uid: process.getuid?.() ?? 0,
    mtimeMs: of(mtime / 1_000_000n),
    mtimeNs: mtime,
    birthtimeNs: birth,
    isFile: () => bytes !== undefined,
    isDirectory: () => bytes === undefined,
    isSymbolicLink: () => false,
  } as unknown as Stats;
}

export function fchmodSync(file: number, mode: number): void {
  const { node, path } = opened(file, 'fchmod');
  begin('look', 'fchmod', path);
  node.mode = mode;
}

export function chmodSync(path: string, mode: number): void {
  begin('look', 'chmod', path);
  const node = disk.files.find(path);
  if (node) node.mode = mode;
}

export function mkdirSync(path: string, { recursive = false, mode = 0o777 } = {}): string | undefined {
  begin('write', 'mkdir', path);
  if (!recursive) {
    disk.files.mkdir(path, mode);
    return undefined;
  }
  let first: string | undefined;
  const names = path.split('/').filter(Boolean);
  for (let count = 1; count <= names.length; count++) {
    const part = `/${names.slice(0, count).join('/')}`;
    if (disk.files.find(part)) continue;
    disk.files.mkdir(part, mode);
    first ??= part;
  }
  return first;
}

export function rmdirSync(path: string): void {
  begin('look', 'rmdir', path);
  const node = disk.files.find(path);
  if (node) disk.removing(path, node);
  disk.files.rmdir(path);
}

export function unlinkSync(path: string): void {
  begin('look', 'unlink', path);
  disk.files.unlink(path);
}

export function renameSync(from: string, to: string): void {
  begin('write', 'rename', from);
  const before = disk.files.text(to);
  disk.files.rename(from, to);
  disk.replaced(to, before);
}

export function readdirSync(path: string, { withFileTypes = false } = {}): unknown[] {
  begin('read', 'scandir', path);
  const found = disk.files.list(path);
  if (!withFileTypes) return found.map(([name]) => name);
  return found.map(([name, { bytes }]) => ({
    name,
    isDirectory: () => bytes === undefined,
    isSymbolicLink: () => false,
  }));
}

export function existsSync(path: string): boolean {
  return disk.files.find(path) !== undefined;
}

export function realpathSync(path: string): string {
  return path;
}

export function copyFileSync(from: string, to: string): void {
  begin('write', 'copyfile', from);
  const { bytes } = disk.files.open(from);
  disk.files.write(to, disk.files.open(to, { make: true, exclusive: true }), bytes ?? Buffer.alloc(0));
}

export function watch(path: string, _options: object, hear: (event: string, file: string) => void) {
  begin('read', 'watch', path);
  const close = disk.files.watch(path, hear);
  return { close, on() {} };
}

/** What only hosted teams and previews call. */
const notSimulated = (): never => {
  throw new Error('This is not simulated');
};
export { notSimulated as cpSync, notSimulated as mkdtempSync, notSimulated as rmSync, notSimulated as writeFileSync };

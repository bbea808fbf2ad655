import { scheduler } from '../scheduler.ts';
import type { Owner } from '../scheduler.ts';

/** A file or directory. */
export interface Node {
  readonly ino: bigint;
  readonly birth: bigint;
  /** Who made it, and when. */
  readonly maker: Owner;
  readonly madeAt: number;
  mtime: bigint;
  mode: number;
  /** The content of a file; undefined for a directory. */
  bytes: Buffer | undefined;
  readonly children: Map<string, Node>;
}

interface Watch {
  readonly path: string;
  readonly owner: Owner;
  readonly hear: (event: string, file: string) => void;
}

/** The kernel's clock for times of files, in nanoseconds: two writes within a tick have the same time. */
const TICK_NS = 4_000_000n;

/** An error as the kernel reports it. */
export function systemError(code: string, call: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${call} '${path}'`), { code, syscall: call, path });
}

/** A file system in memory. Every call is one system call: it is done whole or not at all. Numbers of inodes are reused. */
export class FileSystem {
  readonly #root: Node;
  readonly #free: bigint[] = [];
  #last = 1n;
  readonly #watches = new Set<Watch>();
  /** The probability that nobody is told about a change. */
  deafness = 0;

  constructor() {
    this.#root = this.#make(undefined);
  }

  #now(): bigint {
    const ns = BigInt(scheduler.wall()) * 1_000_000n;
    return ns - (ns % TICK_NS);
  }

  #make(bytes: Buffer | undefined, mode = 0o755): Node {
    const ino = this.#free.pop() ?? ++this.#last;
    const now = this.#now();
    const madeAt = scheduler.now;
    const birth = BigInt(Math.floor(madeAt * 1_000));
    return { ino, birth, maker: scheduler.owner(), madeAt, mtime: now, mode, bytes, children: new Map() };
  }

  find(path: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of path.split('/')) if (name !== '') node = node?.children.get(name);
    return node;
  }

  #parent(path: string, call: string): { folder: Node; name: string } {
    const at = path.lastIndexOf('/');
    const folder = this.find(path.slice(0, at));
    if (!folder) throw systemError('ENOENT', call, path);
    if (folder.bytes) throw systemError('ENOTDIR', call, path);
    return { folder, name: path.slice(at + 1) };
  }

  /** A directory has another entry. */
  #changed(folder: Node, path: string): void {
    folder.mtime = this.#now();
    this.#tell('rename', path);
  }

  #tell(event: string, path: string): void {
    const at = path.lastIndexOf('/');
    const random = scheduler.random('watches');
    for (const { path: watched, owner, hear } of this.#watches) {
      if (watched !== path.slice(0, at) || !owner.isAlive || random.chance(this.deafness)) continue;
      scheduler.plan(random.between(0, 3), () => hear(event, path.slice(at + 1)), owner);
    }
  }

  mkdir(path: string, mode = 0o755): void {
    const { folder, name } = this.#parent(path, 'mkdir');
    if (folder.children.has(name)) throw systemError('EEXIST', 'mkdir', path);
    folder.children.set(name, this.#make(undefined, mode));
    this.#changed(folder, path);
  }

  rmdir(path: string): void {
    const { folder, name } = this.#parent(path, 'rmdir');
    const node = folder.children.get(name);
    if (!node) throw systemError('ENOENT', 'rmdir', path);
    if (node.bytes) throw systemError('ENOTDIR', 'rmdir', path);
    if (node.children.size > 0) throw systemError('ENOTEMPTY', 'rmdir', path);
    folder.children.delete(name);
    this.#free.push(node.ino);
    this.#changed(folder, path);
  }

  unlink(path: string): void {
    const { folder, name } = this.#parent(path, 'unlink');
    const node = folder.children.get(name);
    if (!node) throw systemError('ENOENT', 'unlink', path);
    if (!node.bytes) throw systemError('EISDIR', 'unlink', path);
    folder.children.delete(name);
    this.#free.push(node.ino);
    this.#changed(folder, path);
  }

  rename(from: string, to: string): void {
    const source = this.#parent(from, 'rename');
    const target = this.#parent(to, 'rename');
    const node = source.folder.children.get(source.name);
    if (!node) throw systemError('ENOENT', 'rename', from);
    const there = target.folder.children.get(target.name);
    if (there && !there.bytes && there.children.size > 0) throw systemError('ENOTEMPTY', 'rename', to);
    source.folder.children.delete(source.name);
    target.folder.children.set(target.name, node);
    if (there) this.#free.push(there.ino);
    this.#changed(source.folder, from);
    this.#changed(target.folder, to);
  }

  /** Opens a file, and makes it if it is wanted. */
  open(path: string, { make = false, exclusive = false, truncate = false, mode = 0o644 } = {}): Node {
    const { folder, name } = this.#parent(path, 'open');
    const there = folder.children.get(name);
    if (there && exclusive) throw systemError('EEXIST', 'open', path);
    if (there) {
      if (truncate) this.write(path, there, Buffer.alloc(0));
      return there;
    }
    if (!make) throw systemError('ENOENT', 'open', path);
    const node = this.#make(Buffer.alloc(0), mode);
    folder.children.set(name, node);
    this.#changed(folder, path);
    return node;
  }

  /** Gives an open file a new content. */
  write(path: string, node: Node, bytes: Buffer): void {
    node.bytes = bytes;
    node.mtime = this.#now();
    if (this.find(path) === node) this.#tell('change', path);
  }

  list(path: string): [string, Node][] {
    const node = this.find(path);
    if (!node) throw systemError('ENOENT', 'scandir', path);
    if (node.bytes) throw systemError('ENOTDIR', 'scandir', path);
    return [...node.children].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  /** The content of a file as text; undefined if there is none. */
  text(path: string): string | undefined {
    return this.find(path)?.bytes?.toString();
  }

  watch(path: string, hear: Watch['hear']): () => void {
    const watch = { path, owner: scheduler.owner(), hear };
    this.#watches.add(watch);
    return () => void this.#watches.delete(watch);
  }
}

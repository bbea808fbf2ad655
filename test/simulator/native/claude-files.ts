import type { NativePaths } from '../../../src/bridge/layout.ts';
import { scheduler } from '../scheduler.ts';
import { disk } from '../stand-ins/files.ts';

/** The versions whose files differ most: the older one writes in place and takes few locks. */
export type Version = '2.1.37' | '2.1.325';

/** A process of Claude Code: it yields before each system call, with a pause in milliseconds if it waits. */
export type Acts<T = void> = Generator<number | undefined, T>;

export type Json = Record<string, unknown>;

/** A task as its file has it. */
export interface Task {
  readonly id: string;
  readonly subject: string;
  readonly description?: string;
  readonly owner?: string;
  readonly status: string;
  readonly blocks?: readonly string[];
  readonly blockedBy?: readonly string[];
  readonly metadata?: Json;
}

/** An entry of an inbox. */
export interface Entry extends Json {
  readonly from: string;
  readonly text: string;
  readonly read?: boolean;
  readonly msg_id?: string;
  readonly via?: string;
}

const PAUSES = [5, 10, 20, 40, 80, 100];

/** A lock older than this is taken over. */
const STALE_MS = 10_000;

/** What happens to files, for those who check. */
export interface Witness {
  /** A process died in the middle of a file, or made nothing of what it found: what was in it is lost. */
  torn(path: string): void;
}

/** What the program does with its files, one system call after another. */
export class ClaudeFiles {
  readonly paths: NativePaths;
  readonly version: Version;
  readonly #witness: Witness;

  constructor(paths: NativePaths, version: Version, witness: Witness) {
    this.paths = paths;
    this.version = version;
    this.#witness = witness;
  }

  get #isNew(): boolean {
    return this.version === '2.1.325';
  }

  /** Takes the lock beside a file. */
  *#lock(path: string, attempts: number): Acts<boolean> {
    const lock = `${path}.lock`;
    for (let attempt = 0; attempt < attempts; attempt++) {
      yield undefined;
      if (!disk.files.find(lock)) {
        disk.files.mkdir(lock, 0o755);
        return true;
      }
      yield undefined;
      const found = disk.files.find(lock);
      const age = found ? scheduler.wall() - Number(found.mtime / 1_000_000n) : 0;
      if (found && age > STALE_MS) {
        yield undefined;
        this.#unlock(path);
        continue;
      }
      if (attempt + 1 < attempts) yield PAUSES[Math.min(attempt, PAUSES.length - 1)];
    }
    return false;
  }

  #unlock(path: string): void {
    try {
      disk.files.rmdir(`${path}.lock`);
    } catch {
      // Somebody took it over.
    }
  }

  /** Reads a file; undefined if it is not there or half written. */
  *read(path: string): Acts<unknown> {
    yield undefined;
    return this.parse(path);
  }

  parse(path: string): unknown {
    return parseText(disk.files.text(path));
  }

  /** Writes a file in place. The older version empties it first, the newer one cuts off the rest afterwards. */
  *#writeInPlace(path: string, value: unknown): Acts {
    const bytes = Buffer.from(JSON.stringify(value, undefined, 2));
    yield undefined;
    const node = disk.files.open(path, { make: true, truncate: !this.#isNew });
    yield undefined;
    disk.files.write(path, node, Buffer.concat([bytes, (node.bytes ?? bytes).subarray(bytes.length)]));
    if (!this.#isNew) return;
    yield undefined;
    disk.files.write(path, node, (node.bytes ?? bytes).subarray(0, bytes.length));
  }

  *#writeInbox(path: string, value: readonly Entry[]): Acts {
    if (!this.#isNew) {
      yield* this.#writeInPlace(path, value);
      return;
    }
    const temporary = `${path}.tmp.${Math.floor(scheduler.random('claude').next() * 2 ** 32).toString(16)}`;
    yield undefined;
    const node = disk.files.open(temporary, { make: true, truncate: true });
    yield undefined;
    disk.files.write(temporary, node, Buffer.from(JSON.stringify(value, undefined, 2)));
    yield undefined;
    disk.files.rename(temporary, path);
  }

  /** Changes an inbox under its lock. If the lock stays held, the message is lost, or the look is too late. */
  *changeInbox(name: string, edit: (entries: Entry[]) => Entry[], written: () => void): Acts {
    const path = this.paths.inbox(name);
    yield undefined;
    if (!disk.files.find(this.paths.inboxes)) disk.files.mkdir(this.paths.inboxes);
    yield undefined;
    if (!disk.files.find(path)) {
      disk.files.write(path, disk.files.open(path, { make: true, exclusive: true }), Buffer.from('[]'));
    }
    if (!(yield* this.#lock(path, this.#isNew ? 11 : 1))) return;
    yield undefined;
    const found = this.parse(path) as Entry[] | undefined;
    if (!found) this.#witness.torn(path);
    yield* this.#writeInbox(path, edit(found ?? []));
    written();
    yield undefined;
    this.#unlock(path);
  }

  /** Changes a task: under its lock in the newer version, without one in the older. */
  *changeTask(id: string, edit: (task: Task) => Task | undefined, written?: () => void): Acts<boolean> {
    const path = this.paths.task(id);
    if (this.#isNew && !(yield* this.#lock(path, 31))) return false;
    const found = (yield* this.read(path)) as Task | undefined;
    const next = found && edit(found);
    if (next) {
      yield* this.#writeInPlace(path, next);
      written?.();
    }
    if (this.#isNew) {
      yield undefined;
      this.#unlock(path);
    }
    return next !== undefined;
  }

  *createTask(subject: string, blockedBy: readonly string[]): Acts<string | undefined> {
    const { taskList } = this.paths;
    if (!(yield* this.#lock(taskList, this.#isNew ? 31 : 1))) return undefined;
    yield undefined;
    const id = String(1 + Math.max(0, Number(disk.files.text(this.paths.highWaterMark) ?? 0), ...this.ids()));
    const task = { id, subject, description: subject, status: 'pending', blocks: [], blockedBy: [...blockedBy] };
    yield* this.#writeInPlace(this.paths.task(id), task);
    yield undefined;
    this.#unlock(taskList);
    return id;
  }

  /** Changes config.json. The older version takes no lock. */
  *changeConfig(edit: (config: Json) => Json): Acts<boolean> {
    const { config } = this.paths;
    if (this.#isNew && !(yield* this.#lock(config, 31))) return false;
    const found = (yield* this.read(config)) as Json | undefined;
    if (found) yield* this.#writeInPlace(config, edit(found));
    if (!this.#isNew) return found !== undefined;
    yield undefined;
    this.#unlock(config);
    return found !== undefined;
  }

  ids(): number[] {
    return disk.files
      .list(this.paths.tasks)
      .flatMap(([name]) => (/^\d+\.json$/.test(name) ? Number(name.slice(0, -5)) : []))
      .sort((a, b) => a - b);
  }

  *listTasks(): Acts<Task[]> {
    yield undefined;
    const tasks: Task[] = [];
    for (const id of this.ids()) {
      const task = (yield* this.read(this.paths.task(String(id)))) as Task | undefined;
      if (task) tasks.push(task);
    }
    return tasks;
  }
}

/** What a text says; undefined if it is half written. */
export function parseText(text = ''): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

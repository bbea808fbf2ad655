// Stands in for src/journal/node-sqlite.ts: Node's own SQLite, with calls that fail and processes that are killed between two.
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync as RealDatabase } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import type { TeamEvent } from '../../../src/core/event.ts';
import type { Journal, Stored } from '../../../src/journal/journal.ts';
import { scheduler } from '../scheduler.ts';
import type { Owner } from '../scheduler.ts';
import { Killed } from './files.ts';

interface Trouble {
  /** The probability that a call fails. */
  readonly read: number;
  readonly write: number;
  readonly code: 'FULL' | 'IOERR';
}

/** https://sqlite.org/rescode.html */
const RESULTS = {
  FULL: { errcode: 13, message: 'database or disk is full' },
  IOERR: { errcode: 10, message: 'disk I/O error' },
};

const CHANGES = /^\s*(INSERT|UPDATE|DELETE|COMMIT)/i;

/** What a disk writes whole or not at all. */
const SECTOR = 512;
/** https://sqlite.org/fileformat2.html#the_write_ahead_log */
const LOG_HEAD = 32;

/** Nothing goes wrong. */
export const UNHURT = { trouble: undefined, killAfter: Infinity, tearAfter: Infinity };

/** The SQLite of all machines, and what goes wrong with it. */
export const sqlite = {
  trouble: undefined as Trouble | undefined,
  /** After how many calls the process is killed, before or after the last one has its effect. */
  killAfter: Infinity,
  /** After how many calls the machine stops, in the middle of the next one that writes. */
  tearAfter: Infinity,
  /** Whether that one also carries what is in the log into the file. */
  isCarrying: false,
  kill: (_owner: Owner): void => {},
  /** Called when a transaction has ended. */
  ended: (_db: RealDatabase): void => {},
  open: new Map<Owner, Set<Handle>>(),
  reset(): void {
    Object.assign(this, UNHURT);
    this.kill = () => {};
    this.ended = () => {};
    for (const owner of this.open.keys()) this.forget(owner);
  },
  /** A process has ended: the kernel takes its locks, and its files stay as they are. */
  forget(owner: Owner): void {
    const handles = [...(this.open.get(owner) ?? [])];
    this.open.delete(owner);
    const paths = [...new Set(handles.map(({ path }) => path))].filter(
      (path) => path !== ':memory:' && existsSync(path),
    );
    const kept = paths.flatMap((path) => [path, `${path}-wal`].filter((file) => existsSync(file)));
    for (const file of kept) copyFileSync(file, `${file}.kept`);
    for (const { real } of handles) real.close();
    for (const path of paths) rmSync(`${path}-shm`, { force: true });
    // Closing wrote the log into the file, and removed it.
    for (const file of kept) restore(`${file}.kept`, file);
  },
};

interface Handle {
  readonly path: string;
  readonly real: RealDatabase;
}

/** In place: nobody may lock another file of this name. */
function restore(from: string, to: string): void {
  if (existsSync(to)) rmSync(to);
  copyFileSync(from, to);
  rmSync(from);
}

/** A file and its log. */
interface Picture {
  readonly file: Buffer;
  readonly log: Buffer;
}

function pictureOf(path: string): Picture {
  const read = (name: string): Buffer => (existsSync(name) ? readFileSync(name) : Buffer.alloc(0));
  return { file: read(path), log: read(`${path}-wal`) };
}

function isSame(a: Picture, b: Picture): boolean {
  return a.file.equals(b.file) && a.log.equals(b.log);
}

/** What is left of a file that was about to become another one: any of the sectors that differ may be written. */
function torn(before: Buffer, after: Buffer): Buffer {
  const random = scheduler.random('sqlite');
  const left = Buffer.alloc(Math.max(before.length, after.length));
  before.copy(left);
  let end = before.length;
  for (let at = 0; at < after.length; at += SECTOR) {
    if (random.chance(0.5)) end = Math.max(end, at + after.copy(left, at, at, at + SECTOR));
  }
  return left.subarray(0, end);
}

/**
 * What the disk has when the machine stops in the middle of a call. SQLite flushes the log before it writes the file. When
 * it starts the log again, it flushes the head of the log before the rest.
 */
function stopped(before: Picture, after: Picture): Picture {
  // Before there is a log, SQLite has another way to undo.
  if (after.log.length === 0) return after;
  if (!before.file.equals(after.file)) return { file: torn(before.file, after.file), log: after.log };
  const log = torn(before.log, after.log);
  const isAnew = !before.log.subarray(0, LOG_HEAD).equals(after.log.subarray(0, LOG_HEAD));
  if (isAnew) after.log.copy(log, 0, 0, LOG_HEAD);
  return { file: before.file, log };
}

/** What one call does, and to which file. */
interface Call<T> {
  readonly sql: string;
  readonly path: string;
  readonly work: () => T;
  readonly real?: RealDatabase;
  /** A transaction may have ended. */
  readonly ended?: () => void;
}

/** Does one call of a process. */
function call<T>({ sql, path, work, real, ended }: Call<T>): T {
  const owner = scheduler.owner();
  if (!owner.isAlive) throw new Killed();
  const isLast = --sqlite.killAfter <= 0;
  const random = scheduler.random('sqlite');
  if (isLast && random.chance(0.5)) die(owner);
  const { trouble } = sqlite;
  // A rollback always succeeds.
  if (trouble && !sql.startsWith('ROLLBACK') && random.chance(CHANGES.test(sql) ? trouble.write : trouble.read)) {
    const { errcode, message } = RESULTS[trouble.code];
    throw Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });
  }
  const isWatched = --sqlite.tearAfter <= 0 && path !== ':memory:';
  if (isWatched && sqlite.isCarrying) real?.exec('PRAGMA wal_autocheckpoint = 1');
  const before = isWatched ? pictureOf(path) : undefined;
  const result = work();
  const after = before && pictureOf(path);
  if (before && after && !isSame(before, after)) {
    const left = stopped(before, after);
    if (left.log.equals(after.log)) ended?.();
    try {
      die(owner);
    } finally {
      writeFileSync(path, left.file);
      writeFileSync(`${path}-wal`, left.log);
    }
  }
  ended?.();
  if (isLast) die(owner);
  return result;
}

function die(owner: Owner): never {
  Object.assign(sqlite, { killAfter: Infinity, tearAfter: Infinity });
  sqlite.kill(owner);
  throw new Killed();
}

/** A connection of the process that opened it. */
export class DatabaseSync {
  readonly #real: RealDatabase;
  readonly #handle: Handle;
  readonly #owner = scheduler.owner();

  constructor(path: string | URL, options: ConstructorParameters<typeof RealDatabase>[1] = {}) {
    const name = path instanceof URL ? path.pathname : path;
    this.#real = call({ sql: 'open', path: name, work: () => new RealDatabase(path, options) });
    this.#handle = { path: name, real: this.#real };
    const open = sqlite.open.get(this.#owner) ?? new Set();
    sqlite.open.set(this.#owner, open.add(this.#handle));
  }

  exec(sql: string): void {
    // Whoever has a lock here gives it back in a later step, so nobody waits for one.
    const now = sql.replace(/busy_timeout = \d+/, 'busy_timeout = 0');
    call({ sql, path: this.#handle.path, real: this.#real, work: () => this.#real.exec(now) });
  }

  prepare(sql: string): StatementSync {
    if (!this.#owner.isAlive) throw new Killed();
    const real = this.#real;
    const { path } = this.#handle;
    const ended = (): void => {
      if (CHANGES.test(sql) && !real.isTransaction) sqlite.ended(real);
    };
    return new Proxy(real.prepare(sql), {
      get: (statement, name) => {
        const value: unknown = Reflect.get(statement, name, statement);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown =>
          call({ sql, path, real, ended, work: (): unknown => Reflect.apply(value, statement, args) });
      },
    });
  }

  close(): void {
    if (!sqlite.open.get(this.#owner)?.delete(this.#handle)) return;
    this.#real.close();
  }
}

/** Tells of every batch when it is stored, also if nobody lives any more to hear of it. */
export function watched(journal: Journal, onStored: (team: string, batch: Stored) => void): Journal {
  const tried = new Map<number, { team: string; events: TeamEvent[] }>();
  sqlite.ended = (db) => {
    const { n } = db.prepare('SELECT count(*) AS n FROM batches').get() as { n: number };
    for (let seq = stored + 1; seq <= n; seq++) {
      stored = seq;
      const { team = '', events = [] } = tried.get(seq) ?? {};
      onStored(team, { seq, events });
    }
  };
  return {
    ...journal,
    append(team, expected, events) {
      tried.set(expected + 1, { team, events: JSON.parse(JSON.stringify(events)) as TeamEvent[] });
      return journal.append(team, expected, events);
    },
  };
}

/** How many batches of the team are stored. */
let stored = 0;

export function forgetStored(): void {
  stored = 0;
}

// Stands in for src/journal/node-sqlite.ts: Node's own SQLite, with calls that fail and processes that are killed between two.
import { copyFileSync, existsSync, rmSync } from 'node:fs';
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

/** The SQLite of all machines, and what goes wrong with it. */
export const sqlite = {
  trouble: undefined as Trouble | undefined,
  /** After how many calls the process is killed, before or after the last one has its effect. */
  killAfter: Infinity,
  kill: (_owner: Owner): void => {},
  /** Called when a transaction has ended. */
  ended: (_db: RealDatabase): void => {},
  open: new Map<Owner, Set<Handle>>(),
  reset(): void {
    this.trouble = undefined;
    this.killAfter = Infinity;
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

/** Does one call of a process. */
function call<T>(sql: string, work: () => T): T {
  const owner = scheduler.owner();
  if (!owner.isAlive) throw new Killed();
  const isLast = --sqlite.killAfter <= 0;
  const die = (): never => {
    sqlite.killAfter = Infinity;
    sqlite.kill(owner);
    throw new Killed();
  };
  const random = scheduler.random('sqlite');
  if (isLast && random.chance(0.5)) die();
  const { trouble } = sqlite;
  // A rollback always succeeds.
  if (trouble && !sql.startsWith('ROLLBACK') && random.chance(CHANGES.test(sql) ? trouble.write : trouble.read)) {
    const { errcode, message } = RESULTS[trouble.code];
    throw Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });
  }
  const result = work();
  if (isLast) die();
  return result;
}

/** A connection of the process that opened it. */
export class DatabaseSync {
  readonly #real: RealDatabase;
  readonly #handle: Handle;
  readonly #owner = scheduler.owner();

  constructor(path: string | URL, options: ConstructorParameters<typeof RealDatabase>[1] = {}) {
    this.#real = call('open', () => new RealDatabase(path, options));
    this.#handle = { path: path instanceof URL ? path.pathname : path, real: this.#real };
    const open = sqlite.open.get(this.#owner) ?? new Set();
    sqlite.open.set(this.#owner, open.add(this.#handle));
  }

  exec(sql: string): void {
    call(sql, () => this.#real.exec(sql));
  }

  prepare(sql: string): StatementSync {
    const real = this.#real;
    return new Proxy(real.prepare(sql), {
      get: (statement, name) => {
        const value: unknown = Reflect.get(statement, name, statement);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown =>
          call(sql, () => {
            const result: unknown = Reflect.apply(value, statement, args);
            if (CHANGES.test(sql) && !real.isTransaction) sqlite.ended(real);
            return result;
          });
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

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { startCrew } from './crew.ts';

/**
 * Eight processes that claim from one table. `claims` lets them race for `count` tasks and returns claims per second.
 */
export interface SqlitePeer extends AsyncDisposable {
  claims(count: number): Promise<number>;
}

/** Starts the eight processes. */
export async function startSqlitePeer(folder: string): Promise<SqlitePeer> {
  const path = join(folder, 'peer.db');
  const db = new DatabaseSync(path, { timeout: 10_000 });
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE tasks (id INTEGER PRIMARY KEY, status TEXT NOT NULL, owner TEXT) STRICT;
    CREATE INDEX pending ON tasks (id) WHERE status = 'pending'`);
  const crew = await startCrew('sqlite-claimer.ts', (worker) => [path, worker]);
  return {
    async claims(count) {
      db.exec('DELETE FROM tasks');
      db.prepare(
        `INSERT INTO tasks (id, status) WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT ?)
         SELECT id, 'pending' FROM n`,
      ).run(count);
      const start = performance.now();
      const ids = (await crew.ask('claim')).flat();
      const seconds = (performance.now() - start) / 1000;
      const different = new Set(ids).size;
      if (different !== count || ids.length !== count) throw new Error('The peer claimed a task twice, or never');
      return count / seconds;
    },
    async [Symbol.asyncDispose]() {
      await crew[Symbol.asyncDispose]();
      db.close();
    },
  };
}

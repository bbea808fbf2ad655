import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { WORKERS } from './team.ts';

/** Eight processes that claim from one table; `claims` lets them race for so many tasks and returns claims a second. */
export interface SqlitePeer extends AsyncDisposable {
  claims(count: number): Promise<number>;
}

/** Starts them. They stay for all rounds: starting a process is not what is compared. */
export async function startSqlitePeer(folder: string): Promise<SqlitePeer> {
  const path = join(folder, 'peer.db');
  const db = new DatabaseSync(path, { timeout: 10_000 });
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE tasks (id INTEGER PRIMARY KEY, status TEXT NOT NULL, owner TEXT) STRICT;
    CREATE INDEX pending ON tasks (id) WHERE status = 'pending'`);
  const script = join(import.meta.dirname, 'processes', 'sqlite-claimer.ts');
  const claimers = WORKERS.map((name) => fork(script, [path, name], { execArgv: [] }));
  await Promise.all(claimers.map((claimer) => answer(claimer)));
  return {
    async claims(count) {
      db.exec('DELETE FROM tasks');
      db.prepare(
        `INSERT INTO tasks (id, status) WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT ?)
         SELECT id, 'pending' FROM n`,
      ).run(count);
      const start = performance.now();
      const answers = claimers.map((claimer) => answer(claimer));
      for (const claimer of claimers) claimer.send('claim');
      const ids = (await Promise.all(answers)).flat();
      const seconds = (performance.now() - start) / 1000;
      const different = new Set(ids).size;
      if (different !== count || ids.length !== count) throw new Error('The peer claimed a task twice, or never');
      return count / seconds;
    },
    async [Symbol.asyncDispose]() {
      const running = claimers.filter((claimer) => claimer.connected);
      const gone = running.map((claimer) => once(claimer, 'exit'));
      for (const claimer of running) claimer.disconnect();
      await Promise.all(gone);
      db.close();
    },
  };
}

/** The next thing that a claimer says. */
function answer(claimer: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`A claimer ended with ${code}`));
    claimer.once('exit', onExit);
    claimer.once('message', (message) => {
      claimer.off('exit', onExit);
      resolve(message);
    });
  });
}

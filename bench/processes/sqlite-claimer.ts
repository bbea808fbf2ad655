// One of several processes that claim tasks from an SQLite table in the plain way, one commit per claim.
import { DatabaseSync } from 'node:sqlite';

const [path = '', me = ''] = process.argv.slice(2);
const db = new DatabaseSync(path, { timeout: 10_000 });
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
const claim = db.prepare(`
  UPDATE tasks SET status = 'in_progress', owner = ?
  WHERE id = (SELECT id FROM tasks WHERE status = 'pending' ORDER BY id LIMIT 1)
  RETURNING id`);

process.on('message', () => {
  const ids: number[] = [];
  for (let row = claim.get(me); row !== undefined; row = claim.get(me)) ids.push(row['id'] as number);
  process.send?.(ids);
});
process.on('disconnect', () => db.close());
process.send?.('ready');

// Answers JSON lines, after one commit for all lines of a turn of the event loop. It does nothing else.
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

interface Asked {
  readonly socket: Socket;
  readonly id: number;
  readonly as: string;
  readonly commandId: string;
}

const [, , path = '', file = ''] = process.argv;
const db = new DatabaseSync(file);
db.exec(
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE batches (id INTEGER PRIMARY KEY, body TEXT)',
);
// Makes the log grow to its full size first, as the journal does, so that no commit extends it.
db.prepare('INSERT INTO batches (body) VALUES (?)').run('x'.repeat(4 * 1024 * 1024));
db.exec('DELETE FROM batches; PRAGMA wal_checkpoint');
const add = db.prepare('INSERT INTO batches (body) VALUES (?)');
let waiting: Asked[] = [];
let count = 0;

const server = createServer((socket) => {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('error', () => {});
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (waiting.length === 0) setImmediate(answerAll);
    for (const line of lines) waiting.push({ socket, ...(JSON.parse(line) as Omit<Asked, 'socket'>) });
  });
});
server.listen(path, () => process.send?.('ready'));
process.on('disconnect', () => process.exit());

function answerAll(): void {
  const batch = waiting;
  waiting = [];
  const at = Date.now();
  const claims = batch.map(({ as, commandId }) => ({
    type: 'task:claimed',
    at,
    by: as,
    cause: commandId,
    taskId: `${++count}`,
  }));
  add.run(JSON.stringify(claims));
  const texts = new Map<Socket, string>();
  batch.forEach(({ socket, id, as }, i) => {
    const result = { id: claims[i]?.taskId, title: 'A task', status: 'in_progress', assigneeId: as, startedAt: at };
    texts.set(socket, `${texts.get(socket) ?? ''}${JSON.stringify({ type: 'result', id, result })}\n`);
  });
  for (const [socket, text] of texts) socket.write(text);
}

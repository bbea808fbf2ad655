// Sends requests to the bare server, several in flight, and reports how many answers it got.
import { connect } from 'node:net';

const [, , path = '', worker = ''] = process.argv;
const waiting = new Map<number, () => void>();
let next = 0;
let outgoing = '';
let rest = '';
const socket = connect({
  path,
  onread: {
    buffer: Buffer.allocUnsafe(64 * 1024),
    callback(size, bytes) {
      const lines = (rest + (bytes as Buffer).toString('utf8', 0, size)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const { id } = JSON.parse(line) as { id: number };
        waiting.get(id)?.();
        waiting.delete(id);
      }
      return true;
    },
  },
});
socket.once('connect', () => process.send?.('ready'));
process.on('disconnect', () => process.exit());
process.on('message', ({ count, inFlight }: { count: number; inFlight: number }) => {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await ask();
  };
  void Promise.all(Array.from({ length: inFlight }, lane)).then(() => process.send?.(count));
});

function ask(): Promise<void> {
  const id = ++next;
  if (outgoing === '') {
    queueMicrotask(() => {
      socket.write(outgoing);
      outgoing = '';
    });
  }
  const commandId = crypto.randomUUID();
  outgoing += `${JSON.stringify({ type: 'task.claim', id, payload: { teamId: 'team' }, commandId, as: worker })}\n`;
  return new Promise((resolve) => waiting.set(id, resolve));
}

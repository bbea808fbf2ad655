import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { LIMITS } from '../../src/server/limits.ts';
import { openLingering } from '../../src/server/lingering.ts';

test('the connection with the most unread bytes is closed first, then the oldest', async () => {
  const lingering = openLingering({ ...LIMITS, lingering: 3, lingerBytes: 4_000_000 });
  const [early, small, large, late] = [await unread(0), await unread(1_000), await unread(6_000_000), await unread(0)];
  for (const one of [early, small, large]) lingering.keep(one);
  expect([early, small, large].map((one) => lingering.has(one))).toEqual([true, true, false]);
  expect(large.destroyed).toBe(true);
  lingering.keep(late);
  lingering.keep(await unread(0));
  expect([early, small, late].map((one) => lingering.has(one))).toEqual([false, true, true]);
  expect(early.destroyed).toBe(true);
});

/** A connection whose client reads nothing, with `bytes` beyond what the kernel has taken. */
async function unread(bytes: number): Promise<Socket> {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  const [socket] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  if (bytes > 0) {
    // Until the kernel takes no more.
    while (socket.writableLength === 0) {
      socket.write(Buffer.alloc(1024 * 1024));
      await new Promise(setImmediate);
    }
    socket.write(Buffer.alloc(bytes));
  }
  return socket;
}

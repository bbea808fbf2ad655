import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CallError } from '../../src/client/errors.ts';
import { connectOnce } from '../../src/client/once.ts';
import { socketConnect } from '../../src/client/socket.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const CALL = { type: 'task.list', payload: { teamId: 'demo' }, commandId: 'one' };

test('a daemon that accepts a connection and sends nothing causes a timeout', async () => {
  const path = await listen(async () => {});
  const connect = socketConnect({ path, token: 'secret', patience: 50 });
  await expect(connect({ receive() {}, closed() {} })).rejects.toMatchObject({
    code: 'no_daemon',
    message: expect.stringMatching(/does not answer within 0.05 s: if it hangs, end it with troupe stop --all$/),
  });
});

test('a token that cannot be read is named with the reason', async () => {
  const file = join(temporaryFolder(), 'token');
  const connect = socketConnect({ path: '/nowhere', token: { file } });
  await expect(async () => connect({ receive() {}, closed() {} })).rejects.toMatchObject({
    code: 'no_daemon',
    message: `Cannot read ${file}: no daemon has started here`,
    facts: { errno: 'ENOENT' },
  });
});

describe('one call over one connection', () => {
  test('sends its credential, then the call', async () => {
    const heard: string[] = [];
    const path = await listen(async (socket) => {
      socket.on('data', (chunk) => heard.push(String(chunk)));
      socket.write('{"type":"result","id":0,"result":{}}\n');
      await until('the call', () => heard.join('').includes('task.list'));
      socket.write('{"type":"result","id":1,"result":[1]}\n');
    });
    expect(await connectOnce(path, 'secret').call(CALL)).toEqual([1]);
    const frames = heard
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(frames).toEqual([
      { type: 'hello', id: 0, token: 'secret' },
      { ...CALL, id: 1 },
    ]);
  });

  test('assembles an answer that comes in pieces', async () => {
    const result = { text: '日本語 👍 \n', many: Array.from({ length: 5_000 }, (_, at) => `täxt ${at}`) };
    const bytes = Buffer.from(`{"type":"result","id":0}\n${JSON.stringify({ type: 'result', id: 1, result })}\n`);
    const path = await listen(async (socket) => {
      for (let at = 0; at < 200; at++) {
        socket.write(bytes.subarray(at, at + 1));
        if (at % 20 === 0) await sleep(1);
      }
      socket.write(bytes.subarray(200));
    });
    expect(await connectOnce(path, '').call(CALL)).toEqual(result);
  });

  test.each([
    ['at once', 0],
    ['after the hello', 1],
    ['after the call', 2],
  ])('reports that there is no daemon if it disconnects %s', async (_when, frames) => {
    const path = await listen(async (socket) => {
      let heard = '';
      socket.on('data', (chunk) => (heard += String(chunk)));
      await until(`${frames} frames`, () => heard.split('\n').length > frames);
      socket.destroy();
    });
    await expect(connectOnce(path, '').call(CALL)).rejects.toMatchObject({ code: 'no_daemon' });
  });

  test('reports that there is no daemon if nothing listens', async () => {
    const path = join(temporaryFolder(), 'nobody');
    const first = connectOnce(path, '');
    await expect(connectOnce(path, '').call(CALL)).rejects.toThrow(CallError);
    // By now the first one has failed too, before its call.
    await expect(first.call(CALL)).rejects.toThrow(CallError);
  });

  test('can be closed', async () => {
    let closed = false;
    const path = await listen((socket) => void socket.once('close', () => (closed = true)).resume());
    connectOnce(path, '').close();
    await until('the connection is closed', () => closed);
  });

  test('passes refusals on', async () => {
    const refuse = (id: number) => (socket: Socket) => {
      socket.write(`{"type":"error","id":${id},"error":{"code":"not_found","message":"No such team"}}\n`);
    };
    for (const id of [0, 1]) {
      const path = await listen(refuse(id));
      await expect(connectOnce(path, '').call(CALL)).rejects.toMatchObject({
        code: 'not_found',
        message: 'No such team',
      });
    }
  });
});

/** A server that does this with every connection, until the test ends. */
async function listen(serve: (socket: Socket) => Promise<void> | void): Promise<string> {
  const path = join(temporaryFolder(), 'socket');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    void serve(socket);
  });
  server.listen(path);
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return path;
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, requestText, sendBytes } from './wire.ts';

async function open({ url }: Stage, token: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { authorization: `Bearer ${token}` } });
  onTestFinished(() => socket.terminate());
  await new Promise((resolve) => socket.once('open', resolve));
  return socket;
}

test("a WebSocket that sends a flood of pings or pongs is ended, also a person's", async () => {
  const stage = await setStage();
  const flood = async (token: string, kind: 'ping' | 'pong'): Promise<{ code: number; pongs: number }> => {
    const socket = await open(stage, token);
    let pongs = 0;
    socket.on('pong', () => pongs++).on('error', () => {});
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    for (let i = 0; i < 20_000; i++) socket[kind]('x');
    return { code: await closed, pongs };
  };
  const tokens = [stage.tokens.worker, stage.token];
  const floods = tokens.flatMap((token) => [flood(token, 'ping'), flood(token, 'pong')]);
  for (const { code, pongs } of await Promise.all(floods)) {
    expect(code).toBe(1008);
    expect(pongs).toBeLessThan(500);
  }
  expect(stage.errors).toEqual([]);
});

test('a WebSocket may send a ping now and then', async () => {
  const stage = await setStage();
  const socket = await open(stage, stage.tokens.worker);
  for (let i = 0; i < 50; i++) {
    socket.ping(String(i));
    expect(String(await new Promise((resolve) => socket.once('pong', resolve)))).toBe(String(i));
  }
  expect(socket.readyState).toBe(WebSocket.OPEN);
});

test('lines without anything count as calls of a member do', async () => {
  const stage = await setStage();
  const wire = await openUnix(stage.home.socket, stage.tokens.worker);
  wire.send('\n'.repeat(60_000));
  const answer = wire.ask({ type: 'ping' });
  let turns = 0;
  const counting = { isOver: false };
  void answer.then(() => (counting.isOver = true));
  for (; !counting.isOver; turns++) await nextTurn();
  expect(await answer).toMatchObject({ type: 'pong' });
  // 32 in each.
  expect(turns).toBeGreaterThan(1_000);
});

test('of requests that are sent ahead without a credential few are looked at, and the connection ends', async () => {
  const stage = await setStage();
  const wrong = `GET /api/teams HTTP/1.1\r\nhost: 127.0.0.1:${stage.port}\r\nauthorization: Bearer wrong\r\n\r\n`;
  const foreign = 'GET /api/teams HTTP/1.1\r\nhost: elsewhere\r\n\r\n';
  for (const request of [wrong, foreign]) {
    const before = stage.hub.counters.rejected;
    await sendBytes(stage.port, request.repeat(10_000));
    expect(stage.hub.counters.rejected - before).toBeLessThanOrEqual(8);
    // Also those who wait for their answers are not kept.
    const answer = await sendBytes(stage.port, request);
    expect(answer).toMatchObject({ headers: { connection: 'close' } });
  }
  await expect.poll(() => stage.hub.connections).toBe(0);
  expect(stage.errors).toEqual([]);
});

test('a few requests that are sent ahead are all answered', async () => {
  const stage = await setStage();
  const headers = [
    ['host', `127.0.0.1:${stage.port}`],
    ['authorization', `Bearer ${stage.tokens.worker}`],
  ] as const;
  const last = requestText('GET', '/health', headers);
  const first = last.replace('connection: close\r\n', '');
  const answer = await sendBytes(stage.port, `${first.repeat(4)}${last}`);
  expect(answer?.body.match(/"status":"ok"/g)).toHaveLength(5);
});

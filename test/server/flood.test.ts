import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { JSON_DEPTH } from '../../src/core/limits.ts';
import { ADMIN } from '../../src/operations/caller.ts';
import { LIMITS } from '../../src/server/limits.ts';
import { openShares } from '../../src/server/share.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, openWebSocket, requestText, sendBytes } from './wire.ts';
import type { Answer } from './wire.ts';

async function open({ url }: Stage, token: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { authorization: `Bearer ${token}` } });
  onTestFinished(() => socket.terminate());
  await new Promise((resolve) => socket.once('open', resolve));
  return socket;
}

test("a WebSocket that floods us with pings or pongs is closed, even a person's", async () => {
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

test('empty lines count as calls of a member', async () => {
  const stage = await setStage();
  const wire = await openUnix(stage.home.socket, stage.tokens.worker);
  wire.send('\n'.repeat(60_000));
  const answer = wire.ask({ type: 'ping' });
  let turns = 0;
  const counting = { isOver: false };
  void answer.then(() => (counting.isOver = true));
  for (; !counting.isOver; turns++) await nextTurn();
  expect(await answer).toMatchObject({ type: 'pong' });
  // 32 per turn.
  expect(turns).toBeGreaterThan(1_000);
});

test('of pipelined requests without a credential only a few are read, and the connection is closed', async () => {
  const stage = await setStage();
  const wrong = `GET /api/teams HTTP/1.1\r\nhost: 127.0.0.1:${stage.port}\r\nauthorization: Bearer wrong\r\n\r\n`;
  const foreign = 'GET /api/teams HTTP/1.1\r\nhost: elsewhere\r\n\r\n';
  for (const request of [wrong, foreign]) {
    const before = stage.hub.counters.rejected;
    await sendBytes(stage.port, request.repeat(10_000));
    expect(stage.hub.counters.rejected - before).toBeLessThanOrEqual(8);
    // A client that waits for each answer is closed too.
    const answer = await sendBytes(stage.port, request);
    expect(answer).toMatchObject({ headers: { connection: 'close' } });
  }
  await expect.poll(() => stage.hub.connections).toBe(0);
  expect(stage.errors).toEqual([]);
});

test('a few pipelined requests are all answered', async () => {
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

test('little is read from a stranger, and an unreadable body counts as a wrong code', async () => {
  const stage = await setStage();
  const login = (body: string): Promise<Answer | undefined> => {
    const headers = [
      ['host', `127.0.0.1:${stage.port}`],
      ['origin', stage.url],
      ['content-type', 'application/json'],
    ] as const;
    return sendBytes(stage.port, requestText('POST', '/api/login', headers, body));
  };
  expect(await login('['.repeat(5_000))).toMatchObject({ status: 413 });
  const before = stage.hub.counters.rejected;
  expect(await login('[[[[')).toMatchObject({ status: 400 });
  expect(await login('{"code":7}')).toMatchObject({ status: 400 });
  expect(await login('{"code":"wrong"}')).toMatchObject({ status: 401 });
  expect(stage.hub.counters.rejected - before).toBe(3);

  const wire = await openUnix(stage.home.socket);
  wire.send({ type: 'hello', id: 1, token: stage.token, more: 'x'.repeat(5_000) });
  expect(await wire.take(() => true)).toMatchObject({ error: { code: 'unauthenticated' } });
});

test('JSON that is nested too deep is refused before it is parsed', async () => {
  const stage = await setStage();
  const deep = `${'['.repeat(3_000)}${']'.repeat(3_000)}`;
  const headers = { authorization: `Bearer ${stage.tokens.worker}` };
  for (const wire of [
    await openUnix(stage.home.socket, stage.tokens.worker),
    await openWebSocket(stage.url, headers),
  ]) {
    wire.send(`{"type":"ping","payload":${deep}}`);
    expect(await wire.take(() => true)).toMatchObject({
      error: { code: 'invalid', message: expect.stringContaining('too deep') as string },
    });
  }
  const answer = await fetch(`${stage.url}/api/teams/demo/tasks`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: `{"title":"Deep","metadata":${deep}}`,
  });
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('too deep')]);
});

test('metadata of the greatest depth is accepted, despite the levels around it', async () => {
  const stage = await setStage();
  const wire = await openUnix(stage.home.socket, stage.tokens.lead);
  const nested = (levels: number): unknown => (levels === 0 ? 'x'.repeat(5_000) : [nested(levels - 1)]);
  const metadata = { a: nested(JSON_DEPTH - 1) };
  const answer = await wire.ask({ type: 'task.create', payload: { teamId: 'demo', title: 'Deep', metadata } });
  expect(answer).toMatchObject({ type: 'result', result: { metadata } });
});

test("a frame of a megabyte uses up a member's part of a turn, and nothing of a person's", () => {
  const takeShare = openShares(LIMITS);
  const share = takeShare({ scope: 'member', teamId: 'demo', memberId: 'worker' }, 'member')?.share;
  share?.spend(1_000);
  expect(share?.isSpent).toBe(false);
  share?.spend(LIMITS.messageBytes);
  expect(share?.isSpent).toBe(true);
  const own = takeShare(ADMIN, 'person')?.share;
  own?.spend(LIMITS.messageBytes);
  expect(own?.isSpent).toBe(false);
});

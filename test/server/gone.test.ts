import { once } from 'node:events';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { countReads, setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, requestText, upgradeText, webSocketFrame } from './wire.ts';

const teamId = 'demo';
const TASKS = 40;
const LISTS = 200;
/** At most this many of the answers are made: those that the kernel took, and those that then wait. */
const FEW = LISTS / 8;
const SLOW = 40;

describe.each(['unix', 'ws'] as const)('a client over %s that asks for much, reads nothing and disconnects', (kind) => {
  test('costs no more than a few of its answers', async () => {
    const stage = await setStage();
    const other = await openUnix(stage.home.socket, stage.token);
    const description = '日🎭é'.repeat(6_000);
    for (let i = 0; i < TASKS; i++) {
      await other.ask({ type: 'task.create', payload: { teamId, title: `Task ${i}`, description } });
    }
    const list = { type: 'task.list', payload: { teamId } };
    const made = countCalls(stage, list.type);
    const { socket, send } = kind === 'unix' ? await rawUnix(stage) : await rawWebSocket(stage);
    socket.pause();
    for (let id = 1; id <= LISTS; id++) send(JSON.stringify({ ...list, id }));
    // After some turns the kernel's buffer is full, and the rest waits.
    for (let i = 0; i < 20; i++) await other.ask({ type: 'ping' });
    const before = made();
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(FEW);
    socket.destroy();
    await expect.poll(() => stage.hub.connected.size).toBe(1);
    for (let i = 0; i < 20; i++) await other.ask({ type: 'ping' });
    expect(made()).toBe(before);
    expect(stage.errors).toEqual([]);
  });
});

test('no long answer is made for a client over HTTP that has disconnected before', async () => {
  const stage = await setStage();
  const description = 'x'.repeat(60_000);
  for (let i = 0; i < 60; i++) await stage.act('task.create', { teamId, title: `Task ${i}`, description });
  const reads = countReads(stage);
  const { reader: token } = stage.tokens;
  const slow = await openUnix(stage.home.socket, token);
  slow.pause();
  for (let id = 1; id <= SLOW; id++) slow.send({ type: 'event.list', id, payload: { teamId } });
  // It does not read, so no more answers are made for its credential.
  let seen = 0;
  await expect.poll(() => seen === (seen = reads()) && seen > 0, { interval: 100 }).toBe(true);

  const sockets = Array.from({ length: 8 }, () => rawHttp(stage, '/api/teams/demo/history', token));
  await expect.poll(() => stage.hub.visits).toBe(8);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => stage.hub.visits).toBe(0);
  slow.resume();
  for (let id = 1; id <= SLOW; id++) await slow.take((frame) => frame.id === id);
  expect(await slow.ask({ type: 'event.list', payload: { teamId, limit: 1 } })).toMatchObject({ type: 'result' });
  expect(reads()).toBe(SLOW + 1);
  expect(stage.errors).toEqual([]);
});

/** Counts the calls of an operation. */
function countCalls({ hub }: Stage, wanted: string): () => number {
  const call = hub.call.bind(hub);
  let count = 0;
  hub.call = (name, ...given) => {
    if (name === wanted) count++;
    return call(name, ...given);
  };
  return () => count;
}

interface Raw {
  readonly socket: Socket;
  readonly send: (text: string) => void;
}

async function rawUnix({ home, token }: Stage): Promise<Raw> {
  const socket = createConnection(home.socket);
  const send = (text: string): void => void socket.write(`${text}\n`);
  socket.on('error', () => {});
  send(JSON.stringify({ type: 'hello', token }));
  await once(socket, 'data');
  return { socket, send };
}

async function rawWebSocket({ url, token }: Stage): Promise<Raw> {
  const { hostname, port, host } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port) });
  socket.on('error', () => {});
  socket.write(
    upgradeText('/ws', [
      ['host', host],
      ['authorization', `Bearer ${token}`],
    ]),
  );
  await once(socket, 'data');
  return { socket, send: (text) => void socket.write(webSocketFrame(text)) };
}

function rawHttp({ port }: Stage, path: string, token: string): Socket {
  const socket = createConnection({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  socket.write(
    requestText('GET', path, [
      ['host', `127.0.0.1:${port}`],
      ['authorization', `Bearer ${token}`],
    ]),
  );
  return socket;
}

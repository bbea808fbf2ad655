import { once } from 'node:events';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, upgradeText, webSocketFrame } from './wire.ts';

const teamId = 'demo';
const TASKS = 40;
const LISTS = 200;

describe.each(['unix', 'ws'] as const)('a client over %s that asks for much, reads nothing and goes away', (kind) => {
  test('costs the others no more than a few of its answers would', async () => {
    const stage = await setStage();
    const other = await openUnix(stage.home.socket, stage.token);
    const description = '日🎭é'.repeat(6_000);
    for (let i = 0; i < TASKS; i++) {
      await other.ask({ type: 'task.create', payload: { teamId, title: `Task ${i}`, description } });
    }
    const list = { type: 'task.list', payload: { teamId } };
    const begun = performance.now();
    await other.ask(list);
    const one = performance.now() - begun;

    const { socket, send } = kind === 'unix' ? await rawUnix(stage) : await rawWebSocket(stage);
    socket.pause();
    for (let id = 1; id <= LISTS; id++) send(JSON.stringify({ ...list, id }));
    // After some turns as much as the kernel holds is written, and the rest waits.
    for (let i = 0; i < 20; i++) await other.ask({ type: 'ping' });
    const gone = performance.now();
    socket.destroy();
    await once(socket, 'close');
    for (let i = 0; i < 20; i++) await other.ask({ type: 'ping' });
    expect((performance.now() - gone) / one).toBeLessThan(LISTS / 8);
    expect(stage.errors).toEqual([]);
  });
});

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

import { once } from 'node:events';
import { createConnection } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Client } from '../../src/client/client.ts';
import { nodeWebSocketConnect } from '../../src/client/node-websocket.ts';
import { socketConnect } from '../../src/client/socket.ts';
import { ADMIN } from '../../src/operations/caller.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, openWebSocket, requestText } from './wire.ts';

const teamId = 'demo';
const statusOf = async ({ act }: Stage, taskId: string): Promise<string> =>
  (await act('task.show', { teamId, taskId })).status;

describe.each(['unix', 'ws'] as const)('a claim that waits, over %s', (kind) => {
  test('is not held by a client whose call was cancelled', async () => {
    const stage = await setStage();
    const { home, url, tokens } = stage;
    const client = new Client(
      kind === 'unix'
        ? socketConnect({ path: home.socket, token: tokens.worker })
        : nodeWebSocketConnect({ url: `${url.replace('http', 'ws')}/ws`, token: tokens.worker }),
    );
    onTestFinished(() => client.close());
    const outcomes: { isTold: boolean; isHeld: boolean }[] = [];
    for (let round = 0; round < 30; round++) {
      const stop = new AbortController();
      const claiming = client.call('task.claim', { teamId, wait: 60_000 }, { signal: stop.signal });
      await client.call('team.list', {});
      const created = stage.act('task.create', { teamId, title: 'Wanted and not' });
      // Cancels some turns later in each round: before, during and after the claim, and while the answer is on its way.
      for (let turn = 0; turn < round % 10; turn++) await new Promise(setImmediate);
      stop.abort();
      const isTold = await claiming.then(
        () => true,
        () => false,
      );
      const { id: taskId } = await created;
      await client.call('team.list', {});
      outcomes.push({ isTold, isHeld: (await statusOf(stage, taskId)) === 'in_progress' });
      await stage.act('task.delete', { teamId, taskId });
    }
    expect(outcomes.filter(({ isTold, isHeld }) => isTold !== isHeld)).toEqual([]);
    expect(stage.errors).toEqual([]);
  });

  test('is released if the connection ends before there is room for its answer', async () => {
    const stage = await setStage();
    const { id: long } = await stage.act('task.create', { teamId, title: 'Long', description: 'x'.repeat(60_000) });
    await stage.act('task.assign', { teamId, taskId: long, assigneeId: 'other' });
    const token = stage.tokens.worker;
    const wire = await (kind === 'unix'
      ? openUnix(stage.home.socket, token)
      : openWebSocket(stage.url, { authorization: `Bearer ${token}` }));
    wire.send({ type: 'task.claim', id: 'claim', payload: { teamId, wait: 60_000 } });
    await wire.ask({ type: 'ping' });
    wire.pause();
    for (let i = 0; i < 400; i++) wire.send({ type: 'task.show', payload: { teamId, taskId: long } });
    const { counters } = stage.hub;
    const begun = counters.calls;
    let seen = begun;
    // The server handles no further calls of a client for which much waits.
    const isStill = (): boolean => seen === (seen = counters.calls) && seen > begun + 5;
    await expect.poll(isStill, { interval: 100 }).toBe(true);
    const { id } = await stage.act('task.create', { teamId, title: 'Claimed' });
    await expect.poll(() => statusOf(stage, id)).toBe('in_progress');
    wire.terminate();
    await expect.poll(() => statusOf(stage, id)).toBe('pending');
    expect(stage.errors).toEqual([]);
  });
});

test('a claim over REST is released if the client disconnects before its answer is written', async () => {
  const stage = await setStage();
  const { port, tokens } = stage;
  const description = 'x'.repeat(60_000);
  for (let i = 0; i < 300; i++) {
    await stage.act('task.create', { teamId, title: 'Long', description, assigneeId: 'other' });
  }
  const headers = [
    ['host', `127.0.0.1:${port}`],
    ['authorization', `Bearer ${tokens.worker}`],
    ['content-type', 'application/json'],
  ] as const;
  const socket = createConnection({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  socket.pause();
  // The second answer comes after the first, which is never read.
  socket.write(requestText('GET', '/api/agents/worker@demo/team-tasks', headers).replace('connection: close\r\n', ''));
  socket.write(requestText('POST', '/api/teams/demo/claim', headers, JSON.stringify({ wait: 60_000 })));
  await expect.poll(() => stage.hub.visits).toBe(2);
  const { id } = await stage.act('task.create', { teamId, title: 'Claimed' });
  await expect.poll(() => statusOf(stage, id)).toBe('in_progress');
  socket.destroy();
  await once(socket, 'close');
  await expect.poll(() => statusOf(stage, id)).toBe('pending');
  await expect.poll(() => stage.hub.visits).toBe(0);
  expect(stage.errors).toEqual([]);
});

describe('a task that was claimed for a call', () => {
  /** Claims on a face that can tell whether its answer was sent. */
  function claim(stage: Stage, commandId?: string) {
    const stop = new AbortController();
    const answered = Promise.withResolvers<(isHeard: boolean) => Promise<void>>();
    const result = stage.hub.call('task.claim', {
      caller: ADMIN,
      as: 'worker',
      input: { teamId, wait: 60_000 },
      commandId,
      signal: stop.signal,
      whenAnswered: answered.resolve,
    });
    return { stop, result, hear: async (isHeard: boolean) => (await answered.promise)(isHeard) };
  }

  test('is released if the call is cancelled at the moment of the claim', async () => {
    const stage = await setStage();
    const { stop, result } = claim(stage);
    stage.ledger.subscribe((_, { events }) => {
      if (events.some(({ type }) => type === 'task:claimed')) stop.abort();
    });
    const { id: taskId } = await stage.act('task.create', { teamId, title: 'Wanted' });
    expect(await result).toBe(null);
    expect(await stage.act('task.show', { teamId, taskId })).toMatchObject({ status: 'pending', epoch: 2 });
  });

  test('stays if the answer was sent, else is released, unless it has another holder by then', async () => {
    const stage = await setStage();
    const { id: taskId } = await stage.act('task.create', { teamId, title: 'Wanted' });
    const first = claim(stage);
    expect(await first.result).toMatchObject({ id: taskId, epoch: 1 });
    await first.hear(true);
    expect(await statusOf(stage, taskId)).toBe('in_progress');
    await stage.act('task.release', { teamId, taskId }, 'worker');

    const second = claim(stage);
    expect(await second.result).toMatchObject({ id: taskId, epoch: 3 });
    await stage.act('task.release', { teamId, taskId }, 'worker');
    await stage.act('task.claim', { teamId, taskId }, 'worker');
    await second.hear(false);
    expect(await stage.act('task.show', { teamId, taskId })).toMatchObject({ status: 'in_progress', epoch: 5 });
    await stage.act('task.release', { teamId, taskId }, 'worker');

    const third = claim(stage);
    await third.result;
    await third.hear(false);
    expect(await statusOf(stage, taskId)).toBe('pending');
    expect(stage.errors).toEqual([]);
  });

  test('is not released by a cancelled call with the same id as an answered one', async () => {
    const stage = await setStage();
    const { id: taskId } = await stage.act('task.create', { teamId, title: 'Wanted' });
    const first = claim(stage, 'c1');
    await first.result;
    await first.hear(true);
    const again = claim(stage, 'c1');
    again.stop.abort();
    await again.result;
    const third = claim(stage, 'c1');
    expect(await third.result).toMatchObject({ id: taskId, status: 'in_progress', epoch: 1 });
    await third.hear(false);
    expect(await stage.act('task.show', { teamId, taskId })).toMatchObject({ status: 'in_progress', epoch: 1 });
  });

  test('is not released while a retry of the call may be answered', async () => {
    const stage = await setStage();
    const first = claim(stage, 'c1');
    const again = claim(stage, 'c1');
    const { id: taskId } = await stage.act('task.create', { teamId, title: 'Wanted' });
    expect(await first.result).toMatchObject({ id: taskId });
    expect(await again.result).toMatchObject({ id: taskId });
    await first.hear(false);
    await again.hear(true);
    expect(await statusOf(stage, taskId)).toBe('in_progress');
  });

  test('is claimed again by a retry of the call after its release', async () => {
    const stage = await setStage();
    for (const title of ['First', 'Second']) await stage.act('task.create', { teamId, title });
    for (const epoch of [1, 3]) {
      const call = claim(stage, 'c1');
      expect(await call.result).toMatchObject({ title: 'First', status: 'in_progress', assigneeId: 'worker', epoch });
      await call.hear(false);
    }
    await stage.act('task.claim', { teamId, taskId: '1' }, 'other');
    const last = claim(stage, 'c1');
    expect(await last.result).toMatchObject({ title: 'Second', status: 'in_progress', assigneeId: 'worker' });
    await last.hear(true);
    expect(await claim(stage, 'c1').result).toMatchObject({ title: 'Second', status: 'in_progress' });
  });
});

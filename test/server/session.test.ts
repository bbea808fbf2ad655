import { describe, expect, test } from 'vitest';
import { setHeldStage } from './held-stage.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import type { StartOptions } from './start.ts';
import { openUnix, openWebSocket } from './wire.ts';
import type { Wire } from './wire.ts';

const teamId = 'demo';

describe.each(['unix', 'ws'] as const)('a connection over %s', (kind) => {
  const connect = ({ home, url }: Stage, token: string): Promise<Wire> =>
    kind === 'unix' ? openUnix(home.socket, token) : openWebSocket(url, { authorization: `Bearer ${token}` });

  async function open(options: StartOptions = {}): Promise<{ stage: Stage; wire: Wire }> {
    const stage = await setStage(options);
    return { stage, wire: await connect(stage, stage.token) };
  }

  test('answers a ping', async () => {
    const { wire } = await open();
    expect(await wire.ask({ type: 'ping', id: 7 })).toEqual({ type: 'pong', id: 7 });
  });

  test.each([
    ['no JSON', 'nonsense'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a number', '7'],
    ['no type', '{"id":1}'],
    ['a type that is no text', '{"type":{}}'],
    ['an id that is no id', '{"type":"ping","id":{}}'],
    ['a fraction as id', '{"type":"ping","id":0.5}'],
    ['a speaker that is no text', '{"type":"team.list","as":1}'],
    ['a command id that is no text', '{"type":"team.list","commandId":1}'],
  ])('reports that it cannot read %s, and goes on', async (_, text) => {
    const { wire, stage } = await open();
    wire.send(text);
    expect(await wire.take(({ type }) => type === 'error')).toMatchObject({ error: { code: 'invalid' } });
    expect(await wire.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
    expect(stage.errors).toEqual([]);
  });

  test.each([
    ['the type', { type: 5, id: 'x' }],
    ['the speaker', { type: 'team.list', id: 1, as: 5 }],
    ['the command id', { type: 'team.list', id: 0, commandId: {} }],
  ])('reports under the id that %s of a frame cannot be read', async (_, frame) => {
    const { wire } = await open();
    wire.send(frame);
    const answer = await wire.take(({ type }) => type === 'error');
    expect(answer).toMatchObject({ id: frame.id, error: { code: 'invalid' } });
  });

  test.each([
    ['task.lst', 'There is no operation "task.lst": did you mean "task.list"?'],
    ['nonsense', 'There is no operation "nonsense": an operation is a noun and a verb, as "task.list"'],
  ])('suggests another operation for %s', async (type, message) => {
    const { wire } = await open();
    expect(await wire.ask({ type })).toMatchObject({ error: { code: 'not_found', message } });
  });

  test('accepts a frame with unknown fields', async () => {
    const { wire } = await open();
    expect(await wire.ask({ type: 'ping', error: { code: 'invalid' } })).toMatchObject({ type: 'pong' });
  });

  test('is closed after too many unreadable frames', async () => {
    const { wire } = await open({ limits: { unreadableFrames: 3 } });
    for (let i = 0; i < 3; i++) wire.send('nonsense');
    const { code } = await wire.closed;
    if (kind === 'ws') expect(code).toBe(1008);
    expect(wire.frames.filter(({ type }) => type === 'error')).toHaveLength(3);
  });

  test('refuses an unknown operation', async () => {
    const { wire } = await open();
    for (const type of ['no.such', '', 'constructor', '__proto__', 'hello']) {
      expect(await wire.ask({ type })).toMatchObject({ type: 'error' });
    }
  });

  test('refuses a second call under the id of one that is under way', async () => {
    const { stage, wire } = await open();
    wire.send({ type: 'task.claim', id: 1, as: 'worker', payload: { teamId, wait: 60_000 } });
    wire.send({ type: 'team.list', id: 1 });
    expect(await wire.take(({ id }) => id === 1)).toMatchObject({ type: 'error', error: { code: 'invalid' } });
    await stage.act('task.create', { teamId, title: 'Waited for' });
    expect(await wire.take(({ id }) => id === 1)).toMatchObject({ type: 'result', result: { title: 'Waited for' } });
  });

  test('ends a cancelled call, which then takes nothing', async () => {
    const { stage, wire } = await open();
    for (const cancel of [
      { type: 'cancel', id: 5 },
      { type: 'cancel', id: 'x', payload: { id: 5 } },
    ]) {
      wire.send({ type: 'task.claim', id: 5, as: 'worker', payload: { teamId, wait: 60_000 } });
      wire.send(cancel);
      expect(await wire.take(({ id }) => id === 5)).toMatchObject({ type: 'result', result: null });
    }
    await stage.act('task.create', { teamId, title: 'Free' });
    expect(await stage.act('task.list', { teamId })).toMatchObject([{ status: 'pending' }]);
  });

  test('that closes ends its waiting calls', async () => {
    const { stage, wire } = await open();
    wire.send({ type: 'task.claim', id: 5, as: 'worker', payload: { teamId, wait: 60_000 } });
    await wire.ask({ type: 'ping' });
    wire.close();
    await expect.poll(() => stage.hub.connected.size).toBe(0);
    await stage.act('task.create', { teamId, title: 'Free' });
    expect(await stage.act('task.list', { teamId })).toMatchObject([{ status: 'pending' }]);
  });

  test('has a limited number of calls that wait', async () => {
    const { wire } = await open({ limits: { waitingCalls: 2 } });
    for (let id = 1; id <= 3; id++) {
      wire.send({ type: 'message.inbox', id, as: 'worker', payload: { teamId, wait: 60_000 } });
    }
    expect(await wire.take(({ id }) => id === 3)).toMatchObject({ error: { code: 'limit' } });
    wire.send({ type: 'cancel', id: 1 });
    await wire.take(({ id }) => id === 1);
    wire.send({ type: 'message.inbox', id: 4, as: 'worker', payload: { teamId, wait: 1 } });
    expect(await wire.take(({ id }) => id === 4)).toMatchObject({ type: 'result' });
  });

  test('answers many more calls than may be under way at a time', async () => {
    const { wire, stage } = await open({ limits: { inFlight: 4 } });
    const calls = Array.from({ length: 2_000 }, (_, at) =>
      at % 10 === 0
        ? wire.ask({ type: 'task.create', payload: { teamId, title: `Task ${at}` } })
        : wire.ask({ type: 'ping' }),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter(({ type }) => type === 'result')).toHaveLength(200);
    expect(answers.filter(({ type }) => type === 'pong')).toHaveLength(1_800);
    expect(stage.errors).toEqual([]);
  });

  test('carries an answer larger than the outbox limit', async () => {
    const { wire, stage } = await open();
    const long = { teamId, toId: 'worker', content: 'ü'.repeat(30_000) };
    const messageIds: string[] = [];
    for (let i = 0; i < 200; i++) messageIds.push((await stage.act('message.send', long, 'lead')).id);
    const read = { type: 'message.read', as: 'worker', payload: { teamId, memberId: 'worker', messageIds } };
    const [first, second] = await Promise.all([wire.ask(read), wire.ask(read)]);
    expect(first['result']).toHaveLength(200);
    expect(second['result']).toEqual(first['result']);
    expect(stage.hub.counters.cut).toBe(0);
  });

  test('whose client keeps calling and reads nothing is cut off', async () => {
    const stage = await setHeldStage();
    const wire = await connect(stage, stage.token);
    const long = { teamId, title: 'Long', description: 'x'.repeat(60_000) };
    for (let i = 0; i < 50; i++) await stage.act('task.create', long);
    wire.pause();
    for (let id = 0; id < 200; id++) wire.send({ type: 'task.list', id, payload: { teamId } });
    await expect.poll(async () => (await stage.pass(1_000), stage.hub.counters.cut)).toBe(1);
    expect(stage.hub.connected.size).toBe(0);
    expect(await stage.act('team.list', {})).toHaveLength(2);
  });

  test('reports a defect of ours without details', async () => {
    const { wire, stage } = await open();
    stage.hub.services.daemon.status = () => Promise.reject(new Error('secret detail'));
    const answer = await wire.ask({ type: 'daemon.status' });
    expect(answer).toMatchObject({ error: { code: 'internal' } });
    expect(JSON.stringify(answer)).not.toContain('secret');
    expect(stage.errors).toHaveLength(1);
  });

  test('is ended when the daemon stops, after its answers', async () => {
    const { wire, stage } = await open();
    const answers = Array.from({ length: 20 }, (_, at) =>
      wire.ask({ type: 'task.create', payload: { teamId, title: `Task ${at}` } }),
    );
    await expect.poll(() => wire.frames.some(({ type }) => type === 'result')).toBe(true);
    await stage.stop();
    const { code } = await wire.closed;
    if (kind === 'ws') expect(code).toBe(1001);
    expect((await Promise.allSettled(answers)).filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(
      0,
    );
  });
});

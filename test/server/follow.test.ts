import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { LIMITS } from '../../src/server/limits.ts';
import { rounds } from '../proof.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { setHeldStage } from './held-stage.ts';
import type { HeldStage } from './held-stage.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, openWebSocket } from './wire.ts';
import type { Wire } from './wire.ts';

const teamId = 'demo';
const KINDS = ['unix', 'ws'] as const;
const connect = (stage: Stage, kind: (typeof KINDS)[number], token = stage.token): Promise<Wire> =>
  kind === 'unix' ? openUnix(stage.home.socket, token) : openWebSocket(stage.url, { authorization: `Bearer ${token}` });

/** The numbers of the batches received, in that order. */
const seqsOf = ({ frames }: Wire): number[] =>
  frames.filter(({ type }) => type === 'events').map(({ seq }) => Number(seq));

const upTo = (last: number, after = 0): number[] => Array.from({ length: last - after }, (_, at) => after + at + 1);

/** Sends messages until it is stopped; each is a batch, or shares one. */
function keepTalking({ act }: Stage): { stop(): Promise<void> } {
  let stopped = false;
  const talkers = Array.from({ length: 4 }, async () => {
    while (!stopped) {
      await act('message.send', { teamId, toId: 'worker', content: 'And another thing' }, 'lead');
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  });
  return {
    async stop() {
      stopped = true;
      await Promise.all(talkers);
    },
  };
}

/** Without heartbeats: a paused client would not answer them, and these tests are about reading. */
const NO_BEAT = { keepAliveMs: 1e9 };

/** Sends messages until a client that does not read was cut off. */
async function talkUntilCut(stage: HeldStage): Promise<void> {
  const { cut } = stage.hub.counters;
  while (stage.hub.counters.cut === cut) {
    await stage.act('message.send', { teamId, toId: 'worker', content: 'x'.repeat(20_000) }, 'lead');
    await stage.pass(1_000);
  }
  expect(stage.hub.counters.cut).toBe(cut + 1);
}

/** A client that stops reading, and was cut off for it. */
async function fallAsleep(stage: HeldStage, kind: (typeof KINDS)[number]): Promise<Wire> {
  const wire = await connect(stage, kind);
  await wire.ask({ type: 'subscribe', payload: { teamId, only: 'events' } });
  wire.pause();
  await talkUntilCut(stage);
  return wire;
}

describe.each(KINDS)('a subscriber over %s', (kind) => {
  test('gets the events after its cursor, then new events', async () => {
    const stage = await setStage();
    const wire = await connect(stage, kind);
    expect(await wire.ask({ type: 'subscribe', payload: { teamId, after: 1 } })).toMatchObject({
      type: 'subscribed',
      teamId,
      seq: 3,
    });
    await stage.act('task.create', { teamId, title: 'New' });
    await wire.take(({ type, seq }) => type === 'events' && seq === 4);
    expect(seqsOf(wire)).toEqual([2, 3, 4]);
    expect(wire.frames.filter((frame) => frame['seq'] !== undefined).every((frame) => frame['teamId'] === teamId)).toBe(
      true,
    );
  });

  test('may name the team beside the type, and gets nothing after unsubscribing', async () => {
    const stage = await setStage();
    const wire = await connect(stage, kind);
    await wire.ask({ type: 'subscribe', teamId, after: 3, only: 'events' });
    await stage.act('task.create', { teamId, title: 'Heard' });
    await wire.take(({ type }) => type === 'events');
    expect(await wire.ask({ type: 'unsubscribe', teamId })).toMatchObject({ type: 'unsubscribed', teamId });
    await stage.act('task.create', { teamId, title: 'Not heard' });
    await wire.ask({ type: 'ping' });
    expect(seqsOf(wire)).toEqual([4]);
    expect(stage.hub.feeds.size).toBe(0);
  });

  test('gets only events if it asks for that', async () => {
    const stage = await setStage();
    const wire = await connect(stage, kind);
    await wire.ask({ type: 'subscribe', payload: { teamId, only: 'events' } });
    await stage.act('task.create', { teamId, title: 'New' });
    await wire.take(({ type, seq }) => type === 'events' && seq === 4);
    expect(wire.frames.every(({ type }) => ['welcome', 'subscribed', 'events'].includes(type))).toBe(true);
  });

  test.each([
    [{ teamId: 'absent' }, 'not_found'],
    [{ teamId, after: 99 }, 'conflict'],
    [{ teamId, after: -1 }, 'invalid'],
    [{ teamId: '../x' }, 'invalid'],
    [{}, 'invalid'],
    ['text', 'invalid'],
  ])('is refused when it follows %j', async (payload, code) => {
    const stage = await setStage();
    const wire = await connect(stage, kind);
    expect(await wire.ask({ type: 'subscribe', payload })).toMatchObject({ type: 'error', error: { code } });
    expect(stage.hub.feeds.size).toBe(0);
  });

  test('follows a limited number of teams, each once', async () => {
    const stage = await setStage({ limits: { subscriptions: 1 } });
    const wire = await connect(stage, kind);
    for (let i = 0; i < 3; i++) {
      expect(await wire.ask({ type: 'subscribe', payload: { teamId } })).toMatchObject({ type: 'subscribed' });
    }
    expect(await wire.ask({ type: 'subscribe', payload: { teamId: 'away' } })).toMatchObject({
      error: { code: 'limit' },
    });
    expect(await wire.ask({ type: 'unsubscribe', payload: {} })).toMatchObject({ error: { code: 'invalid' } });
    expect(stage.hub.feeds.size).toBe(1);
  });

  test('gets an error when the team is deleted', async () => {
    const stage = await setStage();
    const wire = await connect(stage, kind);
    await wire.ask({ type: 'subscribe', id: 'following', payload: { teamId } });
    await stage.act('team.delete', { teamId, force: true });
    const last = await wire.take(({ id, type }) => id === 'following' && type === 'error');
    expect(last.error?.code).toBe('not_found');
    expect(stage.hub.feeds.size).toBe(0);
  });

  test('does not get the batches of a newer team with the same name', async () => {
    const stage = await setStage();
    const wire = await connect(stage, kind);
    const { stream } = await wire.ask({ type: 'subscribe', payload: { teamId, after: 3 } });
    expect(stream).toBe(((await stage.act('team.status', { teamId })) as { stream: string }).stream);
    wire.send(JSON.stringify({ type: 'unsubscribe', payload: { teamId } }));
    await stage.act('team.delete', { teamId, force: true });
    await stage.act('team.create', { name: teamId });
    for (const title of ['One', 'Two', 'Three']) await stage.act('task.create', { teamId, title });
    expect(await wire.ask({ type: 'subscribe', payload: { teamId, after: 3, stream } })).toMatchObject({
      type: 'error',
      error: {
        code: 'conflict',
        message: expect.stringContaining('it was created again; subscribe from the start') as string,
      },
    });
    expect(await wire.ask({ type: 'subscribe', payload: { teamId } })).toMatchObject({ type: 'subscribed', seq: 4 });
  });

  test('subscribes again and leaves out nothing', async () => {
    const stage = await setStage();
    const wire = await connect(stage, kind);
    const talk = keepTalking(stage);
    await wire.ask({ type: 'subscribe', payload: { teamId, only: 'events' } });
    for (let i = 0; i < 20; i++) await wire.ask({ type: 'subscribe', payload: { teamId, after: 3, only: 'events' } });
    await talk.stop();
    const last = (await stage.ends())[teamId] as number;
    await wire.ask({ type: 'subscribe', payload: { teamId, after: last, only: 'events' } });
    await wire.take(({ type, seq }) => type === 'events' && seq === last);
    // From the start once, and from batch 3 as often as it asked for that; never with a gap.
    const seqs = seqsOf(wire);
    expect(seqs.every((seq, at) => at === 0 || seq <= (seqs[at - 1] as number) + 1)).toBe(true);
    expect(seqs[0]).toBe(1);
    expect(seqs.at(-1)).toBe(last);
  });

  test.each(['memory', 'sqlite'] as const)(
    'misses nothing over many lost connections under load (%s)',
    async (journal) => {
      const stage = await setStage(
        journal === 'sqlite' ? { journal: sqliteJournal(join(temporaryFolder(), 'journal.db')) } : {},
      );
      const talk = keepTalking(stage);
      const seen: number[] = [];
      for (let round = 0; round < rounds(15, 40); round++) {
        const wire = await connect(stage, kind);
        wire.send({
          type: 'subscribe',
          payload: { teamId, after: seen.at(-1) ?? 0, ...(round % 2 && { only: 'events' }) },
        });
        const wanted = round * 3;
        await expect.poll(() => seqsOf(wire).length, { interval: 1 }).toBeGreaterThanOrEqual(wanted % 50);
        wire.close();
        await wire.closed;
        seen.push(...seqsOf(wire));
      }
      await talk.stop();
      const last = (await stage.ends())[teamId] as number;
      const wire = await connect(stage, kind);
      wire.send({ type: 'subscribe', payload: { teamId, after: seen.at(-1) ?? 0 } });
      if (seen.at(-1) !== last) await wire.take(({ type, seq }) => type === 'events' && seq === last);
      seen.push(...seqsOf(wire));
      expect(seen).toEqual(upTo(last));
      wire.close();
      await expect.poll(() => stage.hub.feeds.size).toBe(0);
      expect(stage.errors).toEqual([]);
    },
  );

  test('that does not read is cut off, with the cursor from which it resumes exactly', async () => {
    const stage = await setHeldStage({ limits: NO_BEAT });
    const slow = await connect(stage, kind);
    const quick = await connect(stage, kind);
    for (const wire of [slow, quick]) await wire.ask({ type: 'subscribe', payload: { teamId, only: 'events' } });
    slow.pause();
    await talkUntilCut(stage);
    await stage.act('message.send', { teamId, toId: 'worker', content: 'After it' }, 'lead');
    const last = (await stage.ends())[teamId] as number;
    await quick.take(({ type, seq }) => type === 'events' && seq === last);
    expect(seqsOf(quick)).toEqual(upTo(last));

    slow.resume();
    const { code, reason } = await slow.closed;
    const cut = slow.frames.at(-1) as { type: string; cursors?: Record<string, number> };
    expect(cut.type).toBe('cut');
    if (kind === 'ws') expect({ code, reason }).toEqual({ code: 1013, reason: JSON.stringify(cut.cursors) });
    const cursor = cut.cursors?.[teamId] as number;
    expect(cursor).toBeLessThan(last);
    expect(seqsOf(slow)).toEqual(upTo(cursor));
    const again = await connect(stage, kind);
    await again.ask({ type: 'subscribe', payload: { teamId, after: cursor, only: 'events' } });
    await again.take(({ type, seq }) => type === 'events' && seq === last);
    expect(seqsOf(again)).toEqual(upTo(last, cursor));
  });

  test('that was cut off finds its cursor even after a long sleep', async () => {
    const stage = await setHeldStage({ limits: { connectionsPerToken: 1 } });
    const slow = await fallAsleep(stage, kind);
    // Longer than the timeouts of farewells, heartbeats and stuck answers.
    await stage.pass(120_000);
    // It no longer counts as a connection of its credential.
    const again = await connect(stage, kind);
    slow.resume();
    const { code, reason } = await slow.closed;
    const cut = slow.frames.at(-1) as { type: string; cursors?: Record<string, number> };
    expect(cut).toEqual({ type: 'cut', cursors: { [teamId]: seqsOf(slow).at(-1) } });
    if (kind === 'ws') expect({ code, reason }).toEqual({ code: 1013, reason: JSON.stringify(cut.cursors) });
    again.close();
    await expect.poll(() => stage.hub.connections).toBe(0);
  });

  test('that was cut off is kept for `lingerMs`', async () => {
    const stage = await setHeldStage();
    await fallAsleep(stage, kind);
    await stage.pass(LIMITS.lingerMs - 1_000);
    expect(stage.hub.connections).toBe(1);
    await stage.pass(2_000);
    await expect.poll(() => stage.hub.connections).toBe(0);
  });

  test('that was cut off is kept until there are too many of them', async () => {
    const stage = await setHeldStage({ limits: { ...NO_BEAT, lingering: 1 } });
    await fallAsleep(stage, kind);
    await fallAsleep(stage, kind);
    await expect.poll(() => stage.hub.connections).toBe(1);
  });

  test('that was cut off is kept if it left few bytes unread', async () => {
    const stage = await setHeldStage({ limits: { ...NO_BEAT, lingerBytes: 0 } });
    await fallAsleep(stage, kind);
    await expect.poll(() => stage.hub.connections).toBe(0);
  });

  test('that was cut off makes room for a new connection', async () => {
    const stage = await setHeldStage({ limits: { ...NO_BEAT, connections: 1 } });
    await fallAsleep(stage, kind);
    const next = await connect(stage, kind);
    expect(await next.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
    await expect.poll(() => stage.hub.connections).toBe(1);
  });

  test('that reads slowly gets everything, and the daemon holds little of it', async () => {
    const stage = await setStage();
    const long = { teamId, title: 'Long', description: 'x'.repeat(60_000) };
    for (let i = 0; i < 150; i++) await stage.act('task.create', long);
    const other = await connect(stage, kind);
    const wire = await connect(stage, kind);
    const last = (await stage.ends())[teamId] as number;
    wire.send({ type: 'subscribe', payload: { teamId } });
    for (let i = 0; i < 20; i++) {
      wire.pause();
      // In this time the daemon prepares as much for this client as it ever would.
      for (let turn = 0; turn < 10; turn++) await other.ask({ type: 'ping' });
      wire.resume();
      await wire.ask({ type: 'ping' });
    }
    await wire.take(({ type, seq }) => type === 'events' && seq === last);
    expect(seqsOf(wire)).toEqual(upTo(last));
    expect(stage.hub.counters.cut).toBe(0);
  });
});

import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/server/limits.ts';
import { setHeldStage } from './held-stage.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';

const teamId = 'demo';

/** One entry of a stream. */
interface Entry {
  readonly id?: string;
  readonly event?: string;
  readonly data?: { seq: number; teamId: string };
}

/** Reads entries one by one. */
async function* entriesOf(answer: Response): AsyncGenerator<Entry> {
  let text = '';
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => /^(\w*): ?(.*)$/.exec(line)?.slice(1) ?? []);
      const { data, ...rest } = Object.fromEntries(fields.filter(([name]) => name)) as Record<string, string>;
      yield { ...rest, ...(data !== undefined && { data: JSON.parse(data) as { seq: number; teamId: string } }) };
    }
  }
}

function open(
  { url, token }: Stage,
  query = '',
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${url}/api/teams/${teamId}/events${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(signal && { signal }),
  });
}

async function take(answer: Response, count: number): Promise<(number | undefined)[]> {
  const seqs: (number | undefined)[] = [];
  for await (const { id, data } of entriesOf(answer)) {
    if (!data) continue;
    expect(Number(id?.split('.')[0])).toBe(data.seq);
    seqs.push(data.seq);
    if (seqs.length === count) break;
  }
  return seqs;
}

describe('a stream of server-sent events', () => {
  test('sends past events, then new ones', async () => {
    const stage = await setStage();
    const answer = await open(stage);
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    const seqs = take(answer, 4);
    await stage.act('task.create', { teamId, title: 'New' });
    expect(await seqs).toEqual([1, 2, 3, 4]);
    await expect.poll(() => stage.hub.feeds.size).toBe(0);
  });

  test('resumes where it was lost', async () => {
    const stage = await setStage();
    expect(await take(await open(stage, '?after=1'), 2)).toEqual([2, 3]);
    expect(await take(await open(stage, '', { 'last-event-id': '2' }), 1)).toEqual([3]);
    expect(await take(await open(stage, '?after=0', { 'last-event-id': '2' }), 1)).toEqual([3]);
    for (const id of ['99', '-1', 'x', '1.5']) expect((await open(stage, '', { 'last-event-id': id })).ok).toBe(false);
    const refused = await open(stage, '?after=abc');
    expect(await refused.json()).toMatchObject({
      error: { code: 'invalid', message: 'after: must be the number of a batch, not "abc"' },
    });
  });

  test('sends heartbeats', async () => {
    const stage = await setStage({ limits: { keepAliveMs: 20 } });
    let signs = 0;
    for await (const entry of entriesOf(await open(stage))) if (!entry.data && ++signs > 3) break;
    expect(signs).toBe(4);
  });

  test('ends with an error when the team is deleted', async () => {
    const stage = await setStage();
    const answer = await open(stage);
    await stage.act('team.delete', { teamId, force: true });
    const entries: Entry[] = [];
    for await (const entry of entriesOf(answer)) entries.push(entry);
    expect(entries.at(-1)).toMatchObject({ event: 'error', data: { code: 'not_found' } });
  });

  test('ends with the credential', async () => {
    const stage = await setStage();
    const answer = await open(stage);
    await stage.act('token.rotate', {});
    for await (const entry of entriesOf(answer)) expect(entry.event).toBeUndefined();
    expect(stage.hub.connected.size).toBe(0);
  });

  test('leaves nothing behind when its client disconnects, however often', async () => {
    const stage = await setStage({ limits: { requestBurst: 1e6 } });
    for (let i = 0; i < 100; i++) {
      const gone = new AbortController();
      const answer = await open(stage, '', {}, gone.signal);
      expect(answer.status).toBe(200);
      gone.abort();
      if (i % 10 === 9) await expect.poll(() => stage.hub.feeds.size, { interval: 5 }).toBe(0);
    }
    await expect.poll(() => [stage.hub.connected.size, stage.hub.connections]).toEqual([0, 0]);
  });

  test('counts as a connection of its credential', async () => {
    const stage = await setStage({ limits: { connectionsPerToken: 2 } });
    const [first] = await Promise.all([open(stage), open(stage)]);
    expect((await open(stage)).status).toBe(429);
    await first.body?.cancel();
    await expect.poll(async () => (await open(stage)).status).toBe(200);
  });

  test('that its client does not read is closed', async () => {
    const stage = await setHeldStage();
    const answer = await open(stage);
    const long = { teamId, title: 'Long', description: 'x'.repeat(60_000) };
    for (let i = 0; i < 300; i++) await stage.act('task.create', long);
    await stage.pass(LIMITS.stallMs + 2_000);
    expect(stage.hub.connected.size).toBe(0);
    await answer.body?.cancel();
  });
});

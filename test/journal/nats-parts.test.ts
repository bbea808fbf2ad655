import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConsumerMessages, StreamConfig } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import { errors } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import { readNatsAddress } from '../../src/journal/nats/address.ts';
import { ANSWER } from '../../src/journal/nats/errors.ts';
import { stopWhenBroken } from '../../src/journal/nats/flow.ts';
import { changeLease, ensureStream } from '../../src/journal/nats/lease.ts';
import { acknowledging, openInTurn, openLink } from '../../src/journal/nats/link.ts';
import type { Link } from '../../src/journal/nats/link.ts';
import { requireMarked } from '../../src/journal/nats/lost.ts';
import { openPacks } from '../../src/journal/nats/packs.ts';
import { changeSettings, ensureSettings, settingsIn } from '../../src/journal/nats/settings.ts';
import { openSnapshots } from '../../src/journal/nats/snapshots.ts';
import { deleteStream, doubting, findStream, listTeams, makeStream } from '../../src/journal/nats/streams.ts';
import { serveModel } from '../simulator/nats/on-loopback.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

// The parts of a journal on NATS, each alone, with the model of servers.
type Servers = Awaited<ReturnType<typeof serveModel>>;
let single: Servers;
let cluster: Servers;
let prefixes = 0;

beforeAll(async () => {
  single = await serveModel();
  cluster = await serveModel({ size: 3 });
});
afterAll(() => Promise.all([single?.stop(), cluster?.stop()]));
afterEach(() => {
  for (const { model } of [single, cluster]) model.jetstream.odd = () => undefined;
});

async function open(servers: Servers, closing = new AbortController()): Promise<Link> {
  const address = readNatsAddress(`${servers.url}?prefix=parts-${prefixes++}`, '/');
  const link = await openLink(address, { patienceMs: 60_000, closing: closing.signal });
  onTestFinished(() => link.nc.close());
  return link;
}

/** Counts requests whose subject has this word, and refuses the first ones with these codes. */
function watch({ model }: Servers, word: string, ...refusals: number[]): { times: number } {
  const seen = { times: 0 };
  const left = [...refusals];
  model.jetstream.odd = (subject) => {
    if (!subject.includes(word)) return undefined;
    seen.times++;
    const code = left.shift();
    return code === undefined ? undefined : { error: { code: 400, err_code: code, description: 'refused' } };
  };
  return seen;
}

test('a journal is on the first server that has JetStream; if none has, each is asked once', async () => {
  const at = ({ model }: Servers) => `127.0.0.1:${model.nodes[0]!.port}`;
  const both = [at(single), at(cluster)];
  const address = readNatsAddress(`nats://${both.join(',')}`, '/');
  const closing = new AbortController();
  const open = () =>
    openInTurn(address, both, { patienceMs: 0, awayMs: 60_000, jetstreamMs: 0, closing: closing.signal });
  const asked = [watch(single, 'API.INFO', 10_039), watch(cluster, 'API.INFO')];
  const connected = () => [single, cluster].map(({ model }) => model.nodes[0]!.clients.size);
  const before = connected();
  const link = await open();
  onTestFinished(() => link.nc.close());
  expect([link.nc.getServer(), link.awayMs, asked.map(({ times }) => times)]).toEqual([at(cluster), 0, [1, 1]]);
  for (const times of [
    [1, 1],
    [1, 0],
  ]) {
    const refused = [watch(single, 'API.INFO', 10_039), watch(cluster, 'API.INFO', 10_039)];
    await expect(open()).rejects.toThrow(/is a NATS server without JetStream, which a journal needs/);
    expect(refused.map((one) => one.times)).toEqual(times);
    const now = [before[0], (before[1] ?? 0) + 1];
    await until('only the journal is connected', () => connected().every((count, i) => count === now[i]));
    // Then the journal closes.
    closing.abort();
  }
});

describe('the stream of a team', () => {
  test('is asked for once, and six times of a cluster if it was there', async () => {
    const link = await open(cluster);
    const asked = watch(cluster, 'STREAM.INFO');
    expect(await findStream(link, 'alpha')).toBeUndefined();
    expect(asked.times).toBe(1);
    expect(await findStream(link, 'alpha', { wasThere: true })).toBeUndefined();
    expect(asked.times).toBe(7);
  });

  test('is asked for once of a single server, which knows what it has', async () => {
    const link = await open(single);
    const asked = watch(single, 'STREAM.INFO');
    expect(await findStream(link, 'alpha', { wasThere: true })).toBeUndefined();
    expect(asked.times).toBe(1);
  });

  test('is asked for again only until the answer is as expected, or the journal closes', async () => {
    const closing = new AbortController();
    const link = await open(cluster, closing);
    let answers = 0;
    const ask = async () => ++answers;
    expect(await doubting(link, ask, (answer) => answer === 3)).toBe(3);
    closing.abort();
    expect(await doubting(link, ask, () => false)).toBe(4);
  });

  test('has the settings of the journal, refuses what is beyond them, and is the same for all that make it', async () => {
    const link = await open(single);
    const settings = { replicas: 1, maxBytes: 1_000 };
    const made = await makeStream(link, 'Alpha', { encoded: 'alpha', settings });
    expect(made).toMatchObject({ stream: link.names.stream('alpha'), end: 0, replicas: 1 });
    expect(made.subject).toMatch(new RegExp(`^${link.names.subject('alpha', '')}\\w+$`));
    expect(await makeStream(link, 'Alpha', { encoded: 'alpha', settings })).toEqual(made);
    const { config } = await link.jsm.streams.info(made.stream);
    expect(config).toMatchObject({
      description: '{"team":"Alpha"}',
      discard: 'new',
      num_replicas: 1,
      max_bytes: 1_000,
      deny_delete: true,
      deny_purge: true,
      allow_direct: false,
    });
    const other = await makeStream(link, 'Beta', { encoded: 'beta', settings: { replicas: 1 } });
    expect((await link.jsm.streams.info(other.stream)).config.max_bytes).toBe(-1);
  });

  test('is gone after it was deleted, whoever did it', async () => {
    const link = await open(single);
    const { stream } = await makeStream(link, 'Alpha', { encoded: 'alpha', settings: { replicas: 1 } });
    await deleteStream(link, stream);
    expect(await findStream(link, 'alpha')).toBeUndefined();
    await deleteStream(link, stream);
    watch(single, 'STREAM.DELETE', 12_345);
    await expect(deleteStream(link, stream)).rejects.toThrow('refused');
  });
});

describe('the store of packs', () => {
  test('is made once, at the first pack', async () => {
    const link = await open(single);
    const packs = openPacks(link);
    const made = watch(single, `STREAM.CREATE.OBJ_${link.names.packs}`);
    await packs.remove('alpha/');
    expect(made.times).toBe(0);
    for (const name of ['alpha/1', 'alpha/2', 'beta/1']) await packs.put(name, Buffer.from(name));
    expect(made.times).toBe(1);
    const { config } = await link.jsm.streams.info(`OBJ_${link.names.packs}`);
    expect(config).toMatchObject({ num_replicas: 1, max_age: 14 * 24 * 3_600 * 1e9 });
    await packs.remove('alpha/');
    const found = await Promise.all(['alpha/1', 'alpha/2', 'beta/1'].map((name) => packs.get(name, { maxBytes: 6 })));
    expect(found.map((bytes) => bytes?.toString())).toEqual([undefined, undefined, 'beta/1']);
    await expect(packs.get('beta/1', { maxBytes: 5 })).rejects.toMatchObject({
      code: 'limit',
      message: 'beta/1 has 6 bytes, and at most 5 are taken',
    });
  });

  test('is made again after that failed', async () => {
    const link = await open(single);
    const packs = openPacks(link);
    watch(single, `STREAM.CREATE.OBJ_${link.names.packs}`, 12_345);
    await expect(packs.put('a', Buffer.from('x'))).rejects.toBeInstanceOf(TeamError);
    await packs.put('a', Buffer.from('x'));
    expect(await packs.get('a', { maxBytes: 1 })).toEqual(Buffer.from('x'));
  });
});

describe('snapshots', () => {
  test('are those of a life up to its end; an older one does not replace a newer one', async () => {
    const link = await open(single);
    await ensureSettings(link);
    const snapshots = await openSnapshots(link);
    const life = { stream: 's', subject: 'one', end: 5, replicas: 1 };
    expect(await snapshots.load(life)).toBeUndefined();
    await snapshots.save(life, { seq: 6, body: 'beyond' });
    expect(await snapshots.load(life)).toBeUndefined();
    await snapshots.save(life, { seq: 5, body: 'five' });
    await snapshots.save(life, { seq: 4, body: 'four' });
    expect(await snapshots.load(life)).toEqual({ seq: 5, body: 'five' });
    await snapshots.save(life, { seq: 5, body: 'five again' });
    expect(await snapshots.load(life)).toEqual({ seq: 5, body: 'five again' });
    expect(await snapshots.load({ ...life, end: 4 })).toBeUndefined();
    expect(await snapshots.isDropped('one')).toBe(false);
    await snapshots.noteDropped(life);
    expect(await snapshots.load(life)).toBeUndefined();
    expect([await snapshots.isDropped('one'), await snapshots.isDropped('two')]).toEqual([true, false]);
    await snapshots.save(life, { seq: 1, body: 'x'.repeat(100_000) });
    expect((await snapshots.load(life))?.body).toBe('x'.repeat(100_000));
  });

  test('that somebody deleted are gone, and may be saved again', async () => {
    const link = await open(single);
    await ensureSettings(link);
    const snapshots = await openSnapshots(link);
    const life = { stream: 's', subject: 'one', end: 5, replicas: 1 };
    await snapshots.save(life, { seq: 5, body: 'five' });
    await (await new Objm(link.js).open(link.names.snapshots)).delete('one');
    expect(await snapshots.load(life)).toBeUndefined();
    await snapshots.save(life, { seq: 4, body: 'four' });
    expect(await snapshots.load(life)).toEqual({ seq: 4, body: 'four' });
  });
});

describe('what the servers said', () => {
  test('is remembered of writes: an answer, or that none came', async () => {
    const heard: string[] = [];
    const reach = { acknowledged: () => heard.push('yes'), unacknowledged: () => heard.push('no') };
    const link = { reach } as unknown as Link;
    expect(await acknowledging(link, async () => 'done')).toBe('done');
    await expect(acknowledging(link, () => Promise.reject(new errors.TimeoutError()))).rejects.toThrow();
    // A refusal proves nothing.
    await expect(acknowledging(link, () => Promise.reject(new Error('refused')))).rejects.toThrow();
    expect(heard).toEqual(['yes', 'no']);
  });

  test.each(['heartbeats_missed', 'consumer_not_found', 'stream_not_found', 'consumer_deleted', 'no_responders'])(
    'ends a consumer: %s',
    async (type) => {
      let stops = 0;
      const status = async function* () {
        yield { type: 'heartbeat' };
        expect(stops).toBe(0);
        yield { type };
      };
      await stopWhenBroken({ status, stop: () => stops++ } as unknown as ConsumerMessages);
      expect(stops).toBe(1);
    },
  );
});

test('a team whose stream is gone a moment after it was listed is none', async () => {
  const link = await open(single);
  for (const name of ['alpha', 'beta']) {
    const { subject } = await makeStream(link, name, { encoded: name, settings: { replicas: 1 } });
    await link.js.publish(subject, '[]');
  }
  watch(single, `STREAM.INFO.${link.names.stream('alpha')}`, ANSWER.streamNotFound);
  const known = new Set<string>();
  expect(await listTeams(link, known)).toEqual(['beta']);
  // What is known to have a batch is not asked for again.
  expect([...known]).toEqual([link.names.stream('beta')]);
  const asked = watch(single, 'STREAM.INFO');
  expect(await listTeams(link, known)).toEqual(['alpha', 'beta']);
  expect(asked.times).toBe(1);
});

test('a mark is compared with the batches of the same life', async () => {
  const link = await open(single);
  const { subject } = await makeStream(link, 'alpha', { encoded: 'alpha', settings: { replicas: 1 } });
  for (const id of ['w-1', 'w-2']) await link.js.publish(subject, '[]', { msgID: `${id}.0` });
  const path = join(temporaryFolder(), 'mark');
  const compare = (teams: object, journal = link.place) => {
    writeFileSync(path, JSON.stringify({ journal, teams }));
    return requireMarked(link, path).then((kept) => [...kept]);
  };
  const lost = (rest: string) => new RegExp(`team "alpha" had \\d batch(es)? and ${rest}\\. Nothing is written`);
  expect(await compare({ [subject]: [2, 'w-2'] })).toEqual([[subject, [2, 'w-2']]]);
  expect(await compare({ [subject]: [2] })).toEqual([[subject, [2]]]);
  expect(await compare({ [subject]: [1, 'w-1'] })).toEqual([[subject, [1, 'w-1']]]);
  await expect(compare({ [subject]: [2, 'other'] })).rejects.toThrow(lost('ends at batch 1'));
  await expect(compare({ [subject]: [3] })).rejects.toThrow(lost('ends at batch 2'));
  await expect(compare({ [`${subject}2`]: [1] })).rejects.toThrow(lost('is gone'));
  // Another journal's, and garbage.
  expect(await compare({ [subject]: [3] }, 'nats://other')).toEqual([]);
  expect(await compare({ a: 3, b: ['x'], c: [1, 2] })).toEqual([]);
});

describe('the cards of daemons', () => {
  test('last as long as the lease, one for each daemon, and are made once', async () => {
    const link = await open(single);
    const made = watch(single, 'STREAM.CREATE');
    const config = await ensureStream(link, { replicas: 1, leaseMs: 600_000 });
    expect(config).toMatchObject({
      max_age: 600_000 * 1e6,
      max_msgs_per_subject: 1,
      description: '{"leaseMs":600000}',
      duplicate_window: 120_000 * 1e6,
      num_replicas: 1,
      allow_direct: false,
    });
    expect(await ensureStream(link, { replicas: 1, leaseMs: 1_000 })).toMatchObject({ max_age: 600_000 * 1e6 });
    expect(made.times).toBe(1);
    const change = { replicas: 1, cards: async () => [], onWait: () => expect.unreachable() };
    const updated = watch(single, 'STREAM.UPDATE');
    expect(await changeLease(link, { ...change, leaseMs: undefined })).toEqual({ before: 600_000, leaseMs: 600_000 });
    expect(await changeLease(link, { ...change, leaseMs: 600_000 })).toEqual({ before: 600_000, leaseMs: 600_000 });
    expect(updated.times).toBe(0);
    expect(await changeLease(link, { ...change, leaseMs: 900_000 })).toEqual({ before: 600_000, leaseMs: 900_000 });
    expect(updated.times).toBe(1);
    // Announced first, then it holds.
    expect(await changeLease(link, { ...change, leaseMs: 1_000 })).toEqual({ before: 900_000, leaseMs: 1_000 });
    expect(updated.times).toBe(3);
    const now = await ensureStream(link, { replicas: 1, leaseMs: 5 });
    expect(now).toMatchObject({ max_age: 1_000 * 1e6, duplicate_window: 1_000 * 1e6, description: '{"leaseMs":1000}' });
  });

  test('keep their lease if a daemon does not follow a shorter one', async () => {
    const link = await open(single);
    await ensureStream(link, { replicas: 1, leaseMs: 60_000 });
    const card = { labels: [], agents: [], load: 0, home: 'h', version: '1' };
    const cards = async () => [
      { ...card, name: 'follows', leaseMs: 30_000 },
      { ...card, name: 'late', leaseMs: 30_001 },
      { ...card, name: 'old' },
    ];
    const told: (readonly string[])[] = [];
    const onWait = (names: readonly string[]) => void told.push(names);
    const changing = changeLease(link, { replicas: 1, leaseMs: 30_000, followMs: 0, cards, onWait });
    await expect(changing).rejects.toThrow(/^The lease stays 60 s: late, old did not adopt it/);
    expect(told).toEqual([['late', 'old']]);
    const now = await ensureStream(link, { replicas: 1, leaseMs: 5 });
    expect(now).toMatchObject({ max_age: 60_000 * 1e6, description: '{"leaseMs":60000}' });
  });

  test('are not made where the servers refuse to say whether they are there', async () => {
    const link = await open(single);
    const made = watch(single, 'STREAM.CREATE');
    await ensureStream(link, { replicas: 1, leaseMs: 60_000 });
    expect(made.times).toBe(1);
    const asked = watch(single, 'STREAM.', 12_345);
    await expect(ensureStream(link, { replicas: 1, leaseMs: 60_000 })).rejects.toThrow('refused');
    expect(asked.times).toBe(1);
  });

  test('are kept by as many servers as the teams', async () => {
    const link = await open(cluster);
    await ensureStream(link, { replicas: 1, leaseMs: 60_000 });
    const change = { leaseMs: undefined, cards: async () => [], onWait: () => expect.unreachable() };
    const updated = watch(cluster, 'STREAM.UPDATE');
    for (const replicas of [3, 3]) await changeLease(link, { ...change, replicas });
    expect(updated.times).toBe(1);
    expect(await ensureStream(link, { replicas: 1, leaseMs: 5 })).toMatchObject({ num_replicas: 3 });
  });
});

describe('the settings of a journal', () => {
  test('are made once, and changed one by one', async () => {
    const link = await open(single);
    const made = watch(single, `STREAM.CREATE.OBJ_${link.names.snapshots}`);
    expect(await ensureSettings(link)).toStrictEqual({ replicas: 1 });
    expect(await ensureSettings(link)).toStrictEqual({ replicas: 1 });
    expect(made.times).toBe(1);
    await makeStream(link, 'Alpha', { encoded: 'alpha', settings: { replicas: 1 } });
    const bounded = await changeSettings(link, { maxBytes: 1_000_000 });
    expect(bounded).toStrictEqual({
      replicas: 1,
      maxBytes: 1_000_000,
      leaseMs: 30_000,
      created: false,
      before: { replicas: 1, leaseMs: 30_000 },
      changed: 1,
    });
    expect(await ensureSettings(link)).toStrictEqual({ replicas: 1, maxBytes: 1_000_000 });
    expect(await changeSettings(link, { leaseMs: 60_000 })).toMatchObject({ maxBytes: 1_000_000, changed: 0 });
    expect(await changeSettings(link, { maxBytes: 0 })).toMatchObject({ leaseMs: 60_000, changed: 1 });
    expect(await ensureSettings(link)).toStrictEqual({ replicas: 1 });
    await expect(changeSettings(link, { replicas: 3 })).rejects.toThrow(
      /too few servers with JetStream for 3 replicas/,
    );
  });

  test('are in the configuration of their bucket, with the format', () => {
    const read = (description?: string) => settingsIn({ description, num_replicas: 3 } as StreamConfig, 'nats://x');
    expect(read('{"format":1}')).toStrictEqual({ replicas: 3 });
    expect(read('{"format":1,"maxBytes":5}')).toStrictEqual({ replicas: 3, maxBytes: 5 });
    expect(() => read('{"format":2}')).toThrow(/nats:\/\/x has a format that this version does not know \(2\)/);
    for (const text of [undefined, 'garbage']) expect(() => read(text)).toThrow(/does not know \(undefined\)/);
  });

  test('of a cluster are made by a person', async () => {
    const link = await open(cluster);
    await expect(ensureSettings(link)).rejects.toThrow(
      /it is a cluster\. Create one: troupe journal init .* --replicas 3/,
    );
    expect(await changeSettings(link, { replicas: 3 })).toStrictEqual({
      replicas: 3,
      leaseMs: 30_000,
      created: true,
      changed: 0,
    });
    expect(await ensureSettings(link)).toStrictEqual({ replicas: 3 });
  });
});

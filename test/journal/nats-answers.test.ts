import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import type { HostCard } from '../../src/journal/hosts.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import type { NatsJournal } from '../../src/journal/nats.ts';
import { ANSWER } from '../../src/journal/nats/errors.ts';
import { inspectNatsJournal } from '../../src/journal/nats/inspect.ts';
import { findLostOnNats } from '../../src/journal/nats/lost.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { fill, note, texts } from '../contracts/journal/notes.ts';
import { freePorts, PATIENT } from '../nats/server.ts';
import { serveModel } from '../simulator/nats/on-loopback.ts';
import { headerOf } from '../simulator/nats/protocol.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

// What real servers answer only for a moment, or in versions that nobody has here, the model answers at will.
let single: Awaited<ReturnType<typeof serveModel>>;
let cluster: Awaited<ReturnType<typeof serveModel>>;
let journals = 0;

beforeAll(async () => {
  single = await serveModel();
  cluster = await serveModel({ size: 3 });
});
afterAll(() => Promise.all([single?.stop(), cluster?.stop()]));
afterEach(() => {
  for (const { model } of [single, cluster]) {
    model.jetstream.odd = () => undefined;
    model.isForbidden = () => false;
  }
});

type Odd = ReturnType<(typeof single)['model']['jetstream']['odd']>;

/** Answers the next requests whose subject has this word, one after the other. */
function answerNext({ model }: typeof single, word: string, ...answers: Odd[]): void {
  const left = [...answers];
  model.jetstream.odd = (subject) => (left.length > 0 && subject.includes(word) ? left.shift() : undefined);
}

/** Counts requests whose subject has this word. */
function countRequests({ model }: typeof single, word: string): { times: number } {
  const counted = { times: 0 };
  model.jetstream.odd = (subject) => {
    if (subject.includes(word)) counted.times++;
    return undefined;
  };
  return counted;
}

function refusal(err_code: number, code = 400): Odd {
  return { error: { code, err_code, description: 'refused' } };
}

function newPlace(servers = single): { url: string; prefix: string } {
  const prefix = `odd-${journals++}`;
  return { url: `${servers.url}?prefix=${prefix}`, prefix };
}

async function open(url: string, options: object = PATIENT): Promise<NatsJournal> {
  const journal = await natsJournal(url, options);
  onTestFinished(() => journal.close());
  return journal;
}

async function manageClient() {
  const nc = await connect({ servers: single.url.slice('nats://'.length) });
  onTestFinished(() => nc.close());
  return jetstream(nc);
}

async function manage() {
  return (await manageClient()).jetstreamManager(false);
}

describe('an append', () => {
  test('whose id is still under way is sent again until it is stored', async () => {
    const { url, prefix } = newPlace();
    const journal = await open(url);
    await fill(journal, 'alpha', 1);
    const answers = [{ stream: 's', seq: 0, duplicate: true }, refusal(ANSWER.idUnderWay, 409)];
    const ids: (string | undefined)[] = [];
    single.model.jetstream.odd = (subject, { headers }) => {
      if (!subject.startsWith(`${prefix}.team`)) return undefined;
      ids.push(headerOf(headers, 'Nats-Msg-Id')?.split('.')[1]);
      return answers.shift();
    };
    expect(await journal.append('alpha', 1, [note('2')])).toBe(2);
    expect(ids).toEqual(['0', '0', '1']);
    expect(await texts(journal.read('alpha', 0))).toEqual(['1', '2']);
    // Each names the one that its writer saw before it.
    const { streams } = await manage();
    const [first, second] = await Promise.all([1, 2].map((seq) => streams.getMessage(`${prefix}_alpha`, { seq })));
    expect(second?.header.get('Troupe-After')).toBe(first?.header.get('Nats-Msg-Id').replace(/\.0$/, ''));
    expect(first?.header.has('Troupe-After')).toBe(false);
  });

  test('that was stored without an answer is found, and is no conflict', async () => {
    const { url, prefix } = newPlace();
    const journal = await open(url);
    await fill(journal, 'alpha', 2);
    const { jetstream, nodes } = single.model;
    let tries = 0;
    jetstream.odd = (subject, publication) => {
      if (!subject.startsWith(`${prefix}.team`) || tries++ > 1) return undefined;
      if (tries === 2) return refusal(ANSWER.wrongLastSequence);
      jetstream.streams.get(`${prefix}_alpha`)?.propose(nodes[0]!, { ...publication, reply: undefined });
      return 'nobody';
    };
    expect(await journal.append('alpha', 2, [note('3')])).toBe(3);
    expect(await texts(journal.read('alpha', 0))).toEqual(['1', '2', '3']);
  });

  test('that may be stored later is sent again; if another writer took its place, it is a conflict', async () => {
    const { url, prefix } = newPlace();
    const journal = await open(url);
    await fill(journal, 'alpha', 2);
    answerNext(single, `${prefix}.team`, 'nobody', refusal(ANSWER.wrongLastSequence));
    expect(await journal.append('alpha', 2, [note('3')])).toBe(3);
    for (const taken of [1, 8]) {
      answerNext(single, `${prefix}.team`, 'nobody');
      await expect(journal.append('alpha', taken, [note('x')])).rejects.toMatchObject({ code: 'journal_conflict' });
    }
  });

  test('that the server puts elsewhere is reported', async () => {
    const { url, prefix } = newPlace();
    const journal = await open(url);
    await fill(journal, 'alpha', 1);
    answerNext(single, `${prefix}.team`, { stream: 's', seq: 9 });
    await expect(journal.append('alpha', 1, [note('2')])).rejects.toMatchObject({
      code: 'internal',
      message: 'The server put batch 2 of alpha at 9.',
    });
  });

  test('that nobody answers is sent again after messages that use up the numbers of a returned leader', async () => {
    const { url, prefix } = newPlace();
    const journal = await open(url);
    await fill(journal, 'alpha', 1);
    const refused: unknown[] = [];
    const stream = single.model.jetstream.streams.get(`${prefix}_alpha`)!;
    const propose = stream.propose.bind(stream);
    stream.propose = (from, publication) => {
      if (publication.reply === undefined) refused.push(headerOf(publication.headers, 'Nats-Expected-Last-Sequence'));
      propose(from, publication);
    };
    answerNext(single, `${prefix}.team`, 'silence');
    expect(await journal.append('alpha', 1, [note('2')])).toBe(2);
    expect(refused).toEqual(Array.from({ length: 64 }, () => String(Number.MAX_SAFE_INTEGER)));
    expect(await texts(journal.read('alpha', 0))).toEqual(['1', '2']);
  });

  test('to a journal that is gone says so', async () => {
    const { url, prefix } = newPlace();
    const journal = await open(url);
    await (await manage()).streams.delete(`OBJ_${prefix}-snapshots`);
    await expect(journal.append('alpha', 0, [note('1')])).rejects.toThrow(/There is no journal at .* any more/);
  });
});

describe('a team', () => {
  test('is made although servers refused it a moment ago, and dropped although somebody else was first', async () => {
    const { url } = newPlace();
    const journal = await open(url);
    answerNext(single, 'STREAM.CREATE', refusal(10058), refusal(ANSWER.noSuitablePeers));
    await fill(journal, 'alpha', 1);
    for (const answers of [[refusal(10059, 404)], ['nobody', refusal(10059, 404)]] as const) {
      answerNext(single, 'STREAM.DELETE', ...answers);
      await journal.drop('alpha');
    }
    answerNext(single, 'STREAM.DELETE', refusal(12_345));
    await expect(journal.drop('alpha')).rejects.toMatchObject({ code: 'storage' });
  });

  test('is asked about once by those that list it, and believed to be gone by a single server at once', async () => {
    const { url } = newPlace();
    const [journal, other] = [await open(url), await open(url)];
    await fill(journal, 'alpha', 1);
    const asked = countRequests(single, 'STREAM.INFO');
    expect([await other.teams(), await other.teams()]).toEqual([['alpha'], ['alpha']]);
    expect(asked.times).toBe(1);
    answerNext(single, 'STREAM.INFO', refusal(ANSWER.streamNotFound, 404));
    expect(await texts(other.read('alpha', 0))).toEqual([]);
    expect(await texts(other.read('alpha', 0))).toEqual(['1']);
  });

  test('is named in what failed', async () => {
    const { url } = newPlace();
    const journal = await open(url, { patienceMs: 0 });
    await fill(journal, 'alpha', 1);
    const refuse = () => answerNext(single, 'STREAM.', refusal(12_345));
    const failures = [
      ['read', () => texts(journal.read('alpha', 0))],
      ['follow', () => texts(journal.follow('alpha', 0, AbortSignal.timeout(60_000)))],
      ['load a snapshot of', () => journal.loadSnapshot('alpha')],
      ['save a snapshot of', () => journal.saveSnapshot('alpha', { seq: 1, body: '1' })],
      ['drop', () => journal.drop('alpha')],
    ] as const;
    for (const [doing, call] of failures) {
      refuse();
      await expect(call()).rejects.toThrow(`Cannot ${doing} team "alpha" at `);
    }
    answerNext(single, '.team.', refusal(12_345));
    await expect(journal.append('alpha', 1, [note('2')])).rejects.toThrow('Cannot append to team "alpha" at ');
    refuse();
    await expect(journal.teams()).rejects.toThrow('Cannot list the teams at ');
  });

  test('is appended to without another look at it, and announced once', async () => {
    const { url } = newPlace();
    const [journal, other] = [await open(url), await open(url)];
    const heard: string[] = [];
    onTestFinished(other.hosts.onTeam((team) => heard.push(team)));
    await other.teams();
    expect(await journal.append('alpha', 0, [note('1')])).toBe(1);
    const looks = countRequests(single, 'STREAM.INFO');
    expect(await journal.append('alpha', 1, [note('2')])).toBe(2);
    await expect(journal.append('alpha', 1, [note('2')])).rejects.toMatchObject({ code: 'journal_conflict' });
    expect(looks.times).toBe(0);
    await expect(journal.append('alpha', 1.5, [note('2')])).rejects.toMatchObject({ code: 'journal_conflict' });
    await expect(journal.append('alpha', -1, [note('2')])).rejects.toMatchObject({ code: 'journal_conflict' });
    await journal.append('beta', 0, [note('1')]);
    await until('beta is announced', () => heard.includes('beta'));
    expect(heard).toEqual(['alpha', 'beta']);
  });

  test('cannot be used by a journal that is closed', async () => {
    const journal = await natsJournal(newPlace().url, PATIENT);
    await fill(journal, 'alpha', 2);
    const reading = journal.read('alpha', 0)[Symbol.asyncIterator]();
    await reading.next();
    await journal.close();
    const closed = { code: 'storage', message: expect.stringMatching(/is closed\. Open it again\.$/) as string };
    await expect(reading.next()).rejects.toMatchObject(closed);
    await expect(journal.append('alpha', 2, [note('3')])).rejects.toMatchObject(closed);
    await expect(Array.fromAsync(journal.read('alpha', 0))).rejects.toMatchObject(closed);
    await expect(Array.fromAsync(journal.follow('alpha', 0, new AbortController().signal))).rejects.toMatchObject(
      closed,
    );
    for (const work of [
      () => journal.teams(),
      () => journal.drop('alpha'),
      () => journal.loadSnapshot('alpha'),
      () => journal.saveSnapshot('alpha', { seq: 1, body: '{}' }),
    ]) {
      await expect(work()).rejects.toMatchObject(closed);
    }
  });

  test('is listed by its name; streams of others, and those that were never used, are not', async () => {
    const { url, prefix } = newPlace();
    const journal = await open(url);
    const jsm = await manage();
    const add = (name: string, encoded: string) => jsm.streams.add({ name, subjects: [`${prefix}.team.${encoded}.x`] });
    await add(`${prefix}_empty`, 'empty');
    await add(`foreign-${prefix}`, 'foreign');
    await add(`${prefix}_~abc`, '~abc');
    await (await manageClient()).publish(`${prefix}.team.~abc.x`, '[]');
    await fill(journal, 'alpha', 1);
    // A hash without its name.
    expect(await journal.teams()).toEqual(['alpha', `${prefix}_~abc`]);
  });
});

describe('a team that a cluster denies for a moment', () => {
  /** A journal on the cluster, and what opens it as the same daemon, with its mark, or as one that never saw it. */
  async function begin() {
    const { url, prefix } = newPlace(cluster);
    await setUpNatsJournal(url, { replicas: 3 });
    const mark = join(temporaryFolder(), 'mark');
    const before = await open(url, { ...PATIENT, mark });
    await fill(before, 'alpha', 1);
    await before.close();
    const stream = `${prefix}_alpha`;
    const deny = () => answerNext(cluster, `STREAM.INFO.${stream}`, ...Array<Odd>(3).fill(notFound));
    return { deny, open: (more: object = {}) => open(url, { ...PATIENT, ...more }), mark, stream };
  }
  const notFound = refusal(ANSWER.streamNotFound, 404);

  test('is read by a daemon whose mark has it', async () => {
    const { deny, open, mark, stream } = await begin();
    const asked = countRequests(cluster, `STREAM.INFO.${stream}`);
    const journal = await open({ mark });
    expect(asked.times).toBe(2);
    deny();
    expect(await texts(journal.read('alpha', 0))).toEqual(['1']);
  });

  test('is read by a daemon that made it', async () => {
    const { url, prefix } = newPlace(cluster);
    await setUpNatsJournal(url, { replicas: 3 });
    const journal = await open(url);
    await fill(journal, 'beta', 1);
    answerNext(cluster, `STREAM.INFO.${prefix}_beta`, ...Array<Odd>(3).fill(notFound));
    expect(await texts(journal.read('beta', 0))).toEqual(['1']);
  });

  test('is asked for once if nobody has seen it', async () => {
    const { url } = newPlace(cluster);
    await setUpNatsJournal(url, { replicas: 3 });
    const journal = await open(url);
    const asked = countRequests(cluster, 'STREAM.INFO');
    expect(await texts(journal.read('nobody', 0))).toEqual([]);
    expect(asked.times).toBe(1);
  });

  test('is listed, and read by a daemon that listed it', async () => {
    const { deny, open } = await begin();
    const journal = await open();
    deny();
    expect(await journal.teams()).toEqual(['alpha']);
    deny();
    expect(await texts(journal.read('alpha', 0))).toEqual(['1']);
  });

  test('is dropped, and not only said to be', async () => {
    const { deny, open, mark, stream } = await begin();
    const journal = await open({ mark });
    deny();
    await journal.drop('alpha');
    expect(cluster.model.jetstream.streams.has(stream)).toBe(false);
  });
});

describe('reading', () => {
  test('reports a batch that is missing in the middle', async () => {
    const { url, prefix } = newPlace();
    const journal = await open(url);
    await fill(journal, 'alpha', 4);
    const log = single.model.jetstream.streams.get(`${prefix}_alpha`)?.log;
    const missing = (seq: number): void => {
      const get = log!.get.bind(log);
      log!.get = (one) => (one === seq ? undefined : get(one));
      onTestFinished(() => void (log!.get = get));
    };
    missing(3);
    await expect(texts(journal.read('alpha', 0))).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(/Batch 3.*missing/) as string,
    });
    await expect(texts(journal.follow('alpha', 0, AbortSignal.timeout(60_000)))).rejects.toMatchObject({
      code: 'corrupt',
    });
    missing(1);
    await expect(texts(journal.read('alpha', 0))).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(/Batch 1.*missing/) as string,
    });
  });

  test('looks again for what is not shown, and ends if it is gone', async () => {
    const { url } = newPlace();
    const journal = await open(url);
    await fill(journal, 'alpha', 2);
    const none = refusal(10037, 404);
    // It was stored between two answers, or the server did not know the stream for a moment.
    for (const answer of [none, refusal(ANSWER.streamNotFound, 404)]) {
      answerNext(single, 'MSG.GET', answer);
      expect(await texts(journal.read('alpha', 0))).toEqual(['1', '2']);
    }
    answerNext(single, 'MSG.GET', none, undefined, none, none);
    expect(await texts(journal.read('alpha', 0))).toEqual([]);
  });

  test('ends if the team is dropped meanwhile, and fails on other refusals', async () => {
    const { url } = newPlace();
    const [journal, other] = [await open(url), await open(url)];
    await fill(journal, 'alpha', 2);
    expect(await texts(other.read('alpha', 0))).toEqual(['1', '2']);
    await journal.drop('alpha');
    expect(await texts(other.read('alpha', 1))).toEqual([]);
    await fill(journal, 'alpha', 2);
    answerNext(single, 'MSG.GET', refusal(12_345));
    await expect(texts(journal.read('alpha', 0))).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringMatching(/refused/) as string,
    });
  });

  test('does without a snapshot that is bad, but not without servers', async () => {
    const { url } = newPlace();
    const journal = await open(url, { patienceMs: 0 });
    await fill(journal, 'alpha', 1);
    answerNext(single, 'MSG.GET', refusal(12_345));
    expect(await journal.loadSnapshot('alpha')).toBeUndefined();
    await journal.saveSnapshot('alpha', { seq: 1, body: 'one' });
    // Removed between two looks.
    answerNext(single, 'MSG.GET', undefined, refusal(10037, 404));
    expect(await journal.loadSnapshot('alpha')).toBeUndefined();
    expect(await journal.loadSnapshot('alpha')).toEqual({ seq: 1, body: 'one' });
    answerNext(single, 'MSG.GET', 'nobody');
    await expect(journal.loadSnapshot('alpha')).rejects.toMatchObject({ code: 'storage' });
  });
});

describe('a follower', () => {
  test('of a team that is not there ends if it should have had batches, or if the journal closes', async () => {
    const { url } = newPlace();
    const journal = await open(url);
    const follow = (after: number) => texts(journal.follow('alpha', after, AbortSignal.timeout(60_000)));
    expect(await follow(1)).toEqual([]);
    let isAsked = false;
    single.model.jetstream.odd = (subject) => {
      if (!subject.includes('STREAM.INFO')) return undefined;
      isAsked = true;
      return 'silence';
    };
    const following = follow(0);
    await until('it asks for the team', () => isAsked);
    await journal.close();
    expect(await following).toEqual([]);
  });

  test('ends with an error if it may not wait for more', async () => {
    const { url } = newPlace();
    const journal = await open(url);
    await fill(journal, 'alpha', 1);
    single.model.jetstream.odd = (subject) => (subject.includes('CONSUMER.CREATE') ? refusal(12_345) : undefined);
    const seen: number[] = [];
    const following = (async () => {
      for await (const { seq } of journal.follow('alpha', 0, AbortSignal.timeout(60_000))) seen.push(seq);
    })();
    await expect(following).rejects.toThrow(/Cannot follow team "alpha" .*refused/);
    expect(seen).toEqual([1]);
  });

  test('that ends while it begins to wait leaves nothing on the servers', async () => {
    const { url } = newPlace();
    const journal = await open(url);
    await fill(journal, 'alpha', 1);
    const end = new AbortController();
    let isRemoved = false;
    single.model.jetstream.odd = (subject) => {
      if (subject.includes('CONSUMER.CREATE')) end.abort();
      isRemoved ||= subject.includes('CONSUMER.DELETE');
      return undefined;
    };
    expect(await texts(journal.follow('alpha', 0, end.signal))).toEqual(['1']);
    await until('its consumer is removed', () => isRemoved);
  });

  test.each([0, 3])('that hears no bell ends if its team is gone, and %d batches of another are there', async (end) => {
    const { url, prefix } = newPlace();
    const [journal, reader] = [await open(url), await open(url)];
    const { jetstream } = single.model;
    const name = `${prefix}_alpha`;
    await fill(journal, 'alpha', 1);
    const first = jetstream.streams.get(name)!;
    await journal.drop('alpha');
    await fill(journal, 'alpha', end);
    const second = jetstream.streams.get(name);
    jetstream.streams.set(name, first);
    // It goes when the follower has read it and waits for more.
    jetstream.odd = (subject) => {
      if (!subject.includes('CONSUMER.CREATE')) return undefined;
      if (second) jetstream.streams.set(name, second);
      else jetstream.streams.delete(name);
      return undefined;
    };
    expect(await texts(reader.follow('alpha', 0, AbortSignal.timeout(60_000)))).toEqual(['1']);
  });
});

describe('a journal', () => {
  test('says where it is, what a batch survives, and how that is improved', async () => {
    const { url } = newPlace();
    expect((await open(url)).facts).toEqual({
      location: url,
      durability: 'lazy',
      advice: expect.stringMatching(/^Whether the servers flush before .* of each server\.$/) as string,
    });
    const monitor = createServer((_, response) => {
      response.end(JSON.stringify({ jetstream: { config: { sync_always: true } } }));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void monitor.close());
    await new Promise((resolve) => monitor.once('listening', resolve));
    const { port } = monitor.address() as AddressInfo;
    const { facts } = await open(`${url}&monitor=http://127.0.0.1:${port}`);
    expect(facts).toStrictEqual({ location: url, durability: 'fsync-before-ack' });
  });

  test('whose teams differ from its settings says which, and whose replicas lag is found', async () => {
    const { url, prefix } = newPlace(cluster);
    await setUpNatsJournal(url, { replicas: 3, maxBytes: 1_000_000 });
    const journal = await open(url);
    for (const team of ['a', 'b', 'c', 'd', 'e']) await fill(journal, team, 1);
    const mark = join(temporaryFolder(), 'mark');
    const inspect = async () => (await inspectNatsJournal(url, { base: '/', mark })).journal;
    expect(await inspect()).toMatchObject({ teams: 5, odd: [], lagging: [] });
    expect(await inspect()).not.toHaveProperty('advice');
    const peer = { name: 'n2', current: true, offline: false, active: 0 };
    const info = (team: string, last_seq: number, config: object, replicas?: object[]): object => ({
      config: {
        name: `${prefix}_${team}`,
        subjects: [`${prefix}.team.${team}.x`],
        num_replicas: 3,
        max_bytes: 1_000_000,
        ...config,
      },
      state: { last_seq },
      ...(replicas && { cluster: { replicas } }),
    });
    const told = new Map([
      ['a', info('a', 0, { num_replicas: 1 })],
      ['b', info('b', 1, { max_bytes: -1 }, [peer, { ...peer, offline: true }])],
      ['c', info('c', 1, { max_bytes: 5 }, [peer, { ...peer, current: false }])],
      ['d', info('d', 1, {}, [peer, peer])],
      ['e', info('e', 1, {}, [{ ...peer, offline: true, current: false }])],
    ]);
    cluster.model.jetstream.odd = (subject) => told.get(/STREAM\.INFO\.[^_]*_(.)$/.exec(subject)?.[1] ?? '');
    expect(await inspect()).toMatchObject({
      teams: 4,
      odd: [
        { team: 'a', replicas: 1, maxBytes: 1_000_000 },
        { team: 'b', replicas: 3 },
        { team: 'c', replicas: 3, maxBytes: 5 },
      ],
      lagging: ['b', 'c', 'e'],
      advice: expect.stringContaining('(3 replicas, 1000000 bytes): a, b, c. To apply') as string,
    });
    expect((await inspect())?.odd[1]).toStrictEqual({ team: 'b', replicas: 3 });
    const { facts } = await open(url);
    expect(facts.advice).toMatch(/each server\. These teams do not have the settings .*: a, b, c\. To apply/);
  });

  test('on a cluster is made by a person', async () => {
    await expect(natsJournal(newPlace(cluster).url, PATIENT)).rejects.toThrow(/journal init .* --replicas 3/);
  });

  test('of a newer format is refused', async () => {
    const { url, prefix } = newPlace();
    const jsm = await manage();
    for (const described of [{ description: '{"format":7}' }, { description: 'garbage' }, {}]) {
      await jsm.streams.add({ name: `OBJ_${prefix}-snapshots`, subjects: [`$O.${prefix}-snapshots.>`], ...described });
      await expect(natsJournal(url, PATIENT)).rejects.toMatchObject({ code: 'unsupported' });
      await jsm.streams.delete(`OBJ_${prefix}-snapshots`);
    }
  });

  test.each([
    ['API.INFO', refusal(12_345), /^Cannot use JetStream at .*refused/],
    ['STREAM.INFO', refusal(12_345), /^Cannot open the journal at .*refused/],
    ['STREAM.CREATE.OBJ', refusal(ANSWER.replicasNotSupported), /too few servers with JetStream for 1 replicas/],
    ['STREAM.CREATE.OBJ', refusal(12_345), /refused/],
    ['STREAM.CREATE.KV', refusal(12_345), /refused/],
  ] as const)('whose servers refuse %s is not opened', async (word, odd, message) => {
    const { url } = newPlace();
    answerNext(single, word, odd);
    await expect(natsJournal(url, PATIENT)).rejects.toThrow(message);
  });

  test('is changed with its teams; those that are dropped meanwhile do not matter', async () => {
    const { url } = newPlace(cluster);
    await setUpNatsJournal(url, { replicas: 3, maxBytes: 1_000_000 });
    const journal = await open(url);
    const long = 'x'.repeat(300);
    for (const team of ['a', 'b', 'c', 'd', 'e', long]) await fill(journal, team, 1);
    expect((await journal.teams()).includes(long)).toBe(true);
    answerNext(cluster, 'STREAM.UPDATE', undefined, refusal(ANSWER.replicasNotSupported));
    await expect(setUpNatsJournal(url, { replicas: 1 })).rejects.toThrow(/too few servers/);
    cluster.model.jetstream.odd = (subject) =>
      subject.includes('STREAM.UPDATE') && subject.includes('_a') ? refusal(12_345) : undefined;
    await expect(setUpNatsJournal(url, { replicas: 1, maxBytes: 0 })).rejects.toThrow(
      /^Cannot change .*_a at .*refused/,
    );
    answerNext(cluster, 'STREAM.INFO', refusal(12_345));
    await expect(setUpNatsJournal(url, { replicas: 1 })).rejects.toThrow(/^Cannot set up the journal at .*refused/);
    cluster.model.jetstream.odd = (subject) =>
      subject.includes('STREAM.UPDATE') && /_[a-f]$/.test(subject) ? refusal(ANSWER.streamNotFound, 404) : undefined;
    await setUpNatsJournal(url, { replicas: 1, maxBytes: 0 });
    cluster.model.jetstream.odd = () => undefined;
    // Five of six teams are as before.
    const { facts } = await open(url);
    expect(facts.advice).toMatch(/These teams do not have the settings of the journal \(1 replica, no bound\): a, b/);
    const found = await inspectNatsJournal(url, { base: '/', mark: join(temporaryFolder(), 'mark') });
    expect(found.journal).toMatchObject({
      teams: 6,
      replicas: 1,
      advice: expect.stringContaining('a, b, c, d, e.') as string,
    });
  });

  test('that somebody removes while it is made has the wanted settings', async () => {
    const { url, prefix } = newPlace();
    answerNext(single, `INFO.OBJ_${prefix}-snap`, undefined, undefined, refusal(10059, 404));
    await open(url);
  });

  test('has the lease of its stream, whoever made that', async () => {
    const { url, prefix } = newPlace();
    const jsm = await manage();
    const subjects = [`$KV.${prefix}-hosts.>`];
    const max_age = 60_000 * 1_000_000;
    await jsm.streams.add({ name: `KV_${prefix}-hosts`, subjects, max_age, max_msgs_per_subject: 1 });
    const journal = await open(url);
    expect(journal.hosts.leaseMs).toBe(60_000);
    await journal.hosts.announce({ name: 'old', labels: [], agents: [], load: 0, home: 'h', version: '0' });
    // A daemon that knows no lease does not follow; nobody wants to hear of it.
    await expect(setUpNatsJournal(url, { leaseMs: 30_000, followMs: 0 })).rejects.toMatchObject({ code: 'conflict' });
    expect(await journal.hosts.readLease()).toBe(60_000);
    await jsm.streams.update(`KV_${prefix}-hosts`, { description: '{"leaseMs":"soon"}' });
    expect(await journal.hosts.readLease()).toBe(60_000);
  });

  test('has a shorter lease as soon as its daemons follow', async () => {
    const { url } = newPlace();
    await setUpNatsJournal(url, { leaseMs: 60_000 });
    const { hosts } = await open(url);
    const card = { name: 'old', labels: [], agents: [], load: 0, home: 'h', version: '0' };
    await hosts.announce({ ...card, leaseMs: 60_000 });
    const waited: (readonly string[])[] = [];
    const onWait = (names: readonly string[]): void => {
      waited.push(names);
      void hosts.readLease().then((leaseMs) => hosts.announce({ ...card, leaseMs }));
    };
    const before = { replicas: 1, leaseMs: 60_000 };
    const change = { leaseMs: 30_000, onWait };
    expect(await setUpNatsJournal(url, change)).toEqual({
      replicas: 1,
      leaseMs: 30_000,
      created: false,
      before,
      changed: 0,
    });
    expect(waited).toEqual([['old']]);
    // Nobody has to follow a longer one.
    expect(await setUpNatsJournal(url, { leaseMs: 90_000, onWait })).toMatchObject({ leaseMs: 90_000 });
    expect(await hosts.readLease()).toBe(90_000);
    expect(waited).toHaveLength(1);
  });

  test.each([
    ['INFO.KV_', refusal(12_345), /refused/],
    ['CREATE.KV_', refusal(10058), undefined],
  ] as const)('whose cards meet trouble: %s', async (word, odd, message) => {
    const { url } = newPlace();
    answerNext(single, word, odd);
    const opening = open(url);
    await (message ? expect(opening).rejects.toThrow(message) : expect(opening).resolves.toBeDefined());
  });

  test('takes packs, also of teams that have none', async () => {
    const { url, prefix } = newPlace();
    const { packs } = await open(url);
    await packs.remove('alpha/');
    answerNext(single, `INFO.OBJ_${prefix}-packs`, refusal(12_345));
    await expect(packs.remove('alpha/')).rejects.toThrow(/^Cannot remove work at .*refused/);
    // Somebody removed the settings: one server keeps it.
    answerNext(single, `INFO.OBJ_${prefix}-snap`, refusal(10059, 404));
    await packs.put('alpha/1', Buffer.from('x'));
    expect(await packs.get('alpha/1', { maxBytes: 10 })).toEqual(Buffer.from('x'));
    // Removed between two looks.
    let looks = 0;
    single.model.jetstream.odd = (subject) =>
      subject.includes(`MSG.GET.OBJ_${prefix}-packs`) && ++looks === 2 ? refusal(10037, 404) : undefined;
    expect(await packs.get('alpha/1', { maxBytes: 10 })).toBeUndefined();
  });

  test('makes its store of packs once, and tries again if that failed', async () => {
    const { url, prefix } = newPlace();
    const { packs } = await open(url);
    answerNext(single, `CREATE.OBJ_${prefix}-packs`, refusal(12_345));
    await expect(packs.put('alpha/1', Buffer.from('x'))).rejects.toThrow(/^Cannot store work at .*refused/);
    const made = countRequests(single, `CREATE.OBJ_${prefix}-packs`);
    for (const name of ['alpha/1', 'alpha/2']) await packs.put(name, Buffer.from('x'));
    expect(made.times).toBe(1);
    // What is there is not sent again.
    const sent = countRequests(single, `$O.${prefix}-packs`);
    await packs.put('alpha/1', Buffer.from('x'));
    expect(sent.times).toBe(0);
    answerNext(single, 'MSG.GET', refusal(12_345));
    await expect(packs.get('alpha/1', { maxBytes: 10 })).rejects.toThrow(/^Cannot fetch work at .*refused/);
    await expect(packs.get('alpha/1', { maxBytes: 0 })).rejects.toThrow('alpha/1 has 1 bytes, and at most 0 are taken');
    expect(await packs.get('alpha/1', { maxBytes: 1 })).toEqual(Buffer.from('x'));
    await packs.remove('alpha/2');
    expect(await packs.get('alpha/2', { maxBytes: 1 })).toBeUndefined();
    expect(await packs.get('alpha/1', { maxBytes: 1 })).toEqual(Buffer.from('x'));
  });

  test('that is not there is inspected as none', async () => {
    const { url } = newPlace();
    const mark = join(temporaryFolder(), 'mark');
    const [port = 0] = await freePorts(1);
    expect(await inspectNatsJournal(`nats://127.0.0.1:${port}`, { base: '/', mark })).toEqual({
      place: `nats://127.0.0.1:${port}`,
      servers: [{ server: `127.0.0.1:${port}`, failure: expect.any(Error) as Error }],
      failure: expect.objectContaining({ code: 'storage' }) as Error,
    });
    expect(await inspectNatsJournal(url, { base: '/', mark })).toMatchObject({ version: '2.12.1' });
    expect((await inspectNatsJournal(url, { base: '/', mark })).journal).toBeUndefined();
    answerNext(single, 'STREAM.INFO', refusal(12_345));
    expect((await inspectNatsJournal(url, { base: '/', mark })).failure?.message).toMatch(
      /^Cannot look at the journal at /,
    );
    await open(url);
    single.model.jetstream.odd = (subject) =>
      subject.includes('INFO.KV_') ? refusal(ANSWER.streamNotFound, 404) : undefined;
    expect(await inspectNatsJournal(url, { base: '/', mark })).toMatchObject({
      journal: { hosts: [], leaseMs: undefined },
    });
  });

  test('has lost what a mark names, whatever else is in it', async () => {
    const { url } = newPlace();
    await open(url);
    const mark = join(temporaryFolder(), 'mark');
    const teams = { weird: [3, 'id'], number: 5, half: ['x'] };
    writeFileSync(mark, JSON.stringify({ journal: url, teams }));
    await expect(natsJournal(url, { ...PATIENT, mark })).rejects.toThrow(/weird/);
    const before = single.model.nodes[0]?.clients.size;
    expect(await findLostOnNats(url, { base: '/', mark })).toEqual([{ team: 'weird', seq: 3, now: 0 }]);
    await until('its connection is closed', () => single.model.nodes[0]?.clients.size === before);
    answerNext(single, 'STREAM.INFO', refusal(12_345));
    await expect(findLostOnNats(url, { base: '/', mark })).rejects.toThrow('Cannot look at the journal at ');
    await until('its connection is closed, too', () => single.model.nodes[0]?.clients.size === before);
  });

  test('has lost a batch that it saw, also one without an id', async () => {
    const { url, prefix } = newPlace();
    const mark = join(temporaryFolder(), 'mark');
    const journal = await open(url, { ...PATIENT, mark });
    await fill(journal, 'alpha', 1);
    const [subject = ''] = single.model.jetstream.streams.get(`${prefix}_alpha`)?.config.subjects ?? [];
    await (await manageClient()).publish(subject, '[]');
    expect(await texts(journal.read('alpha', 0))).toEqual(['1']);
    await journal.close();
    await (await manage()).streams.delete(`${prefix}_alpha`);
    await expect(natsJournal(url, { ...PATIENT, mark })).rejects.toThrow(/team "alpha" had 2 batches and is gone/);
  });
});

describe('the daemons of a journal', () => {
  const card = (name: string, more: Partial<HostCard> = {}): HostCard => ({
    name,
    labels: [],
    agents: [],
    load: 0,
    home: name,
    instance: name,
    version: '1',
    ...more,
  });

  test('are told of refusals that are no rival', async () => {
    const { url, prefix } = newPlace();
    const { hosts } = await open(url);
    const subject = `KV.${prefix}-hosts`;
    answerNext(single, subject, refusal(12_345));
    await expect(hosts.announce(card('b'))).rejects.toMatchObject({ code: 'storage' });
    for (const [doing, call] of [
      ['read the lease', () => hosts.readLease()],
      ['list the daemons', () => hosts.list()],
    ] as const) {
      answerNext(single, 'INFO.KV_', refusal(12_345));
      await expect(call()).rejects.toThrow(`Cannot ${doing} at `);
    }
    await hosts.announce(card('b'));
    await hosts.announce(card('a'));
    expect((await hosts.list()).map(({ name }) => name)).toEqual(['a', 'b']);
    answerNext(single, subject, refusal(12_345));
    await expect(hosts.leave('b')).rejects.toMatchObject({ code: 'storage' });
    answerNext(single, subject, refusal(ANSWER.wrongLastSequence));
    await hosts.leave('b');
    await hosts.leave('b');
    // Another daemon takes a name that somebody left.
    const { hosts: others } = await open(url);
    await others.announce(card('b', { home: 'elsewhere', instance: 'other' }));
    expect((await hosts.list()).map(({ home }) => home)).toEqual(['a', 'elsewhere']);
  });

  test('take the name of another only from the run that they know', async () => {
    const { url } = newPlace();
    const [one, two] = [await open(url), await open(url)];
    await one.hosts.announce(card('a', { instance: 'first' }));
    const next = card('a', { instance: 'second' });
    const taken = { code: 'exists' };
    await expect(two.hosts.announce(next)).rejects.toMatchObject(taken);
    for (const replaces of [card('a', { instance: 'zeroth' }), card('a', { instance: 'first', home: 'elsewhere' })]) {
      await expect(two.hosts.announce(next, { replaces })).rejects.toMatchObject(taken);
    }
    await two.hosts.announce(next, { replaces: card('a', { instance: 'first' }) });
    expect((await one.hosts.list()).map(({ instance }) => instance)).toEqual(['second']);
  });

  test('renew a card that they have, and say when they are closed', async () => {
    const { url, prefix } = newPlace();
    const [one, two] = [await open(url), await open(url)];
    await one.hosts.announce(card('a'));
    answerNext(single, `KV.${prefix}-hosts`, refusal(ANSWER.wrongLastSequence));
    await one.hosts.announce(card('a'));
    await two.hosts.announce(card('a'));
    expect(await two.hosts.list()).toHaveLength(1);
    await two.close();
    const closed = { code: 'storage' };
    await expect(two.hosts.isConnected('a')).rejects.toMatchObject(closed);
    await expect(two.hosts.checkHearing('a')).rejects.toThrow('Cannot hear what others ask at ');
    await expect(two.hosts.ask('a', 1, { timeoutMs: 60_000 })).rejects.toMatchObject(closed);
  });

  test('ask each other', async () => {
    const { url, prefix } = newPlace();
    const [one, two] = [await open(url), await open(url)];
    const timeoutMs = 60_000;
    expect(await one.hosts.isConnected('b')).toBe(false);
    await expect(one.hosts.ask('b', 1, { timeoutMs })).rejects.toThrow(/The machine b does not answer/);
    const thrown: unknown[] = [new TeamError('limit', 'too much'), new Error('broken'), 'text'];
    const asked: unknown[] = [];
    const stop = two.hosts.answer('b', async (question) => {
      asked.push(question);
      if (question === 'fail') throw thrown.shift();
      return question;
    });
    await until('it answers', () => one.hosts.isConnected('b'));
    for (const question of [7, 'text', null, true, {}, { hear: true }, [1]]) {
      expect(await one.hosts.ask('b', question, { timeoutMs })).toEqual(question);
    }
    await expect(one.hosts.ask('b', 'fail', { timeoutMs })).rejects.toMatchObject({ code: 'limit' });
    await expect(one.hosts.ask('b', 'fail', { timeoutMs })).rejects.toThrow('broken');
    await expect(one.hosts.ask('b', 'fail', { timeoutMs })).rejects.toThrow('text');
    const before = asked.length;
    expect(await two.hosts.checkHearing('b')).toBe(true);
    expect(asked).toHaveLength(before);
    expect(await one.hosts.checkHearing('c')).toBe(false);
    stop();
    await until('nobody answers', async () => !(await one.hosts.isConnected('b')));
    // A frozen one listens, and does not answer.
    const frozen = await connect({ servers: single.url.slice('nats://'.length) });
    onTestFinished(() => frozen.close());
    frozen.subscribe(`${prefix}.door.b`);
    await frozen.flush();
    expect(await one.hosts.isConnected('b')).toBe(true);
  });

  test('connect again when they did not hear themselves twice in a row', async () => {
    const { url } = newPlace();
    const [{ clients } = { clients: new Set() }] = single.model.nodes;
    const others = new Set(clients);
    const { hosts } = await open(url);
    const connections = () => [...clients].filter((one) => !others.has(one as never));
    const first = connections();
    expect(first).toHaveLength(1);
    const stop = hosts.answer('a', async () => {});
    expect(await hosts.checkHearing('none')).toBe(false);
    expect(await hosts.checkHearing('a')).toBe(true);
    expect(await hosts.checkHearing('none')).toBe(false);
    expect(connections()).toEqual(first);
    expect(await hosts.checkHearing('none')).toBe(false);
    await until('it is connected again', () => connections().length === 1 && connections()[0] !== first[0]);
    expect(await hosts.checkHearing('a')).toBe(true);
    stop();
  });

  test('hear of cards and teams, but not of those that left, or of a team whose name is a hash', async () => {
    const { url } = newPlace();
    const [one, two] = [await open(url), await open(url)];
    const heard: string[] = [];
    const ends = [one.hosts.onCard(({ name }) => heard.push(name)), one.hosts.onTeam((team) => heard.push(team))];
    expect(await one.teams()).toEqual([]);
    await two.hosts.announce(card('b'));
    await two.hosts.leave('b');
    await fill(two, 'x'.repeat(300), 1);
    await fill(two, 'alpha', 1);
    await until('it heard', () => heard.includes('alpha'));
    expect(heard).toEqual(['b', 'alpha']);
    for (const end of ends) end();
  });

  test('work without what they may not listen to', async () => {
    const { url, prefix } = newPlace();
    single.model.isForbidden = (subject) => subject.startsWith(prefix) || subject.startsWith(`$KV.${prefix}`);
    const journal = await open(url);
    const never = () => expect.unreachable();
    journal.hosts.onCard(never);
    journal.hosts.onTeam(never);
    journal.hosts.answer('a', async () => never());
    const seen = texts(journal.follow('alpha', 0, AbortSignal.timeout(60_000)));
    await fill(journal, 'alpha', 1);
    // Without a bell it looks now and then.
    await journal.close();
    expect(await seen.catch(() => [])).toBeInstanceOf(Array);
  });
});

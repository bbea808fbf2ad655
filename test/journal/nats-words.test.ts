import { JetStreamApiError } from '@nats-io/jetstream';
import type { StreamInfo } from '@nats-io/jetstream';
import { errors, headers } from '@nats-io/transport-node';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import { decodeBatch, pack, unpack } from '../../src/journal/nats/batch.ts';
import { batchId, forked, inOrder, openTips } from '../../src/journal/nats/chain.ts';
import { explain } from '../../src/journal/nats/connect.ts';
import { isBefore } from '../../src/journal/nats/durability.ts';
import { ANSWER, isNobodyThere, isTransient, toTeamError, UnderWayError } from '../../src/journal/nats/errors.ts';
import { endWith } from '../../src/journal/nats/flow.ts';
import { leaseIn } from '../../src/journal/nats/lease.ts';
import { encodedIn } from '../../src/journal/nats/lost.ts';
import { decodeTeam, encodeTeam, lastWord, namesOf } from '../../src/journal/nats/names.ts';
import { keptIn, oddAdvice } from '../../src/journal/nats/streams-kept.ts';
import { teamIn } from '../../src/journal/nats/streams.ts';
import { openTurns } from '../../src/journal/nats/turns.ts';
import { withinTime } from '../../src/journal/nats/within-time.ts';
import { nextTurn } from '../contracts/journal/notes.ts';

const answer = (code: number, status = 400, description = 'so it is') =>
  new JetStreamApiError({ code: status, err_code: code, description });

/** What the library throws if an account has no JetStream; it does not export the class. */
const notEnabled = (cause: Error) =>
  Object.assign(new Error('no JetStream', { cause }), { name: 'JetStreamNotEnabled' });

describe('a refusal of the servers', () => {
  test.each<[string, Error, RegExp]>([
    ['a full disk', answer(ANSWER.storeFailed, 503), /it is full .*nothing was changed/],
    ['a message that is too large', answer(ANSWER.messageTooLarge), /larger than the message limit/],
    ['a message that the client refused', new Error('max_payload size exceeded'), /larger than the message limit/],
    ['a permission', new errors.PermissionViolationError('no', 'publish', 'x.y'), /may not publish x\.y/],
    ['a credential', new errors.AuthorizationError('no'), /does not accept the credential/],
    [
      'a credential that has ended',
      new errors.UserAuthenticationExpiredError('over'),
      /does not accept the credential/,
    ],
    [
      'a permission that a request met',
      new errors.RequestError('no', { cause: new errors.PermissionViolationError('no', 'publish', 'x.y') }),
      /may not publish x\.y/,
    ],
    ['no JetStream', notEnabled(answer(10039)), /JetStream is not enabled for this account/],
    ['JetStream that nobody answered for', notEnabled(new Error('nobody')), /no answer .*unknown whether it was done/],
    ['a batch that is under way', new UnderWayError(), /no answer \(the servers have not agreed on it yet\)/],
    ['too few servers', answer(ANSWER.noSuitablePeers), /too few servers run/],
    ['no answer', new errors.TimeoutError(), /no answer .*unknown whether it was done/],
    ['something else', answer(12_345), /Cannot read at nats:\/\/x: so it is\.$/],
  ])('says what to do: %s', (_, error, message) => {
    expect((toTeamError(error, 'nats://x', 'read') as Error).message).toMatch(message);
  });

  test('that is no error, or is one of ours, stays as it is', () => {
    for (const error of ['text', new TeamError('limit', 'too much')]) {
      expect(toTeamError(error, 'nats://x', 'read')).toBe(error);
    }
  });

  test.each<[boolean, Error]>([
    [true, new errors.ConnectionError('gone')],
    [true, new errors.ClosedConnectionError()],
    [true, answer(ANSWER.idUnderWay)],
    [true, answer(10008, 503)],
    [true, notEnabled(new Error('nobody'))],
    [true, new errors.RequestError('nobody')],
    [true, new errors.TimeoutError()],
    [true, new UnderWayError()],
    [false, answer(ANSWER.storeFailed, 503)],
    [false, answer(10008)],
    [false, notEnabled(answer(10039))],
    [false, Object.assign(new Error('of something else'), { status: 503 })],
    [false, Object.assign(new Error('of something else'), { code: ANSWER.idUnderWay })],
    [false, answer(ANSWER.wrongLastSequence)],
    [false, new errors.RequestError('no', { cause: new errors.PermissionViolationError('no', 'publish', 'x') })],
  ])('passes by itself: %s, %s', (isPassing, error) => {
    expect(isTransient(error)).toBe(isPassing);
  });
});

describe('a first connection that failed', () => {
  const failed = (code: string, message = 'so it is') => Object.assign(new Error(message), { code });
  const wrapped = new Error('outer', { cause: failed('ECONNREFUSED') });

  test.each<[Error, RegExp]>([
    [new errors.AuthorizationError('no'), /does not accept the credential/],
    [new errors.UserAuthenticationExpiredError('no'), /does not accept the credential/],
    [failed('CERT_HAS_EXPIRED'), /certificate has expired/],
    [failed('ERR_TLS_CERT_ALTNAME_INVALID'), /certificate is for another name/],
    [failed('DEPTH_ZERO_SELF_SIGNED_CERT'), /certificate is not trusted \(so it is\)/],
    [failed('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), /certificate is not trusted/],
    [new Error("server does not support 'tls'"), /the server does not encrypt/],
    [failed('ERR_SSL_WRONG_VERSION_NUMBER'), /could not be encrypted \(so it is\)/],
    [failed('ECONNRESET'), /could not be encrypted/],
    [failed('ECONNREFUSED'), /no server listens there/],
    [wrapped, /no server listens there/],
    [new Error('connection refused'), /no server listens there/],
    [failed('ENOTFOUND'), /there is no such host/],
    [new Error('so it is'), /: so it is\. Check that nats-server runs there/],
  ])('is explained: %s', (error, message) => {
    const told = explain(error, 'nats://x') as TeamError;
    expect(told).toMatchObject({ code: 'storage', cause: error });
    expect(told.message).toMatch(/^No connection to nats:\/\/x: /);
    expect(told.message).toMatch(message);
  });

  test('is not explained if it is no error, or one of ours', () => {
    for (const error of ['text', new TeamError('invalid', 'no')]) expect(explain(error, 'nats://x')).toBe(error);
  });
});

test('versions are compared by their numbers', () => {
  const told = ['1.11.0', '2.9.10', '2.10.0', '2.11.1', '3.0.0', '2'].map((version) => isBefore(version, [2, 10]));
  expect(told).toEqual([true, true, false, false, false, true]);
});

test('the subject of a life names its team', () => {
  expect(encodedIn('troupe.team.alpha.x1')).toBe('alpha');
  expect(encodedIn('garbage')).toBe('~');
});

test('nobody is there if the servers say so, or if no server answered for JetStream', () => {
  const told = [
    new errors.RequestError('nobody', { cause: new errors.NoRespondersError('x') }),
    notEnabled(new Error('nobody')),
    new errors.RequestError('gone'),
    notEnabled(answer(10039)),
    new errors.NoRespondersError('x'),
    'text',
    undefined,
  ];
  expect(told.map(isNobodyThere)).toEqual([true, true, false, false, false, false, false]);
});

describe('a batch', () => {
  test('that is large is packed, and read again', async () => {
    const text = 'x'.repeat(100_000);
    const { data, encoding } = await pack(text);
    expect(data.length).toBeLessThan(1_000);
    expect(await unpack(data, encoding, 'It')).toBe(text);
    // Smaller ones are sent as they are.
    const [small, large] = [await pack('x'.repeat(65_535)), await pack('x'.repeat(65_536))];
    expect([small.encoding, small.data.length, large.encoding]).toEqual([undefined, 65_535, 'deflate']);
    const plain = { seq: 1, subject: 's', data: Buffer.from('.["a"].').subarray(1, 6) };
    expect(await decodeBatch(plain, 'alpha')).toEqual({ seq: 1, events: ['a'] });
  });

  test.each<[string, string | undefined, Uint8Array]>([
    ['unsupported', 'zstd', Buffer.from('[]')],
    ['corrupt', 'deflate', Buffer.from('no')],
    ['corrupt', undefined, Buffer.from('{')],
  ])('that cannot be read is %s: encoding %s', async (code, encoding, data) => {
    const head = headers();
    if (encoding !== undefined) head.set('Troupe-Encoding', encoding);
    await expect(decodeBatch({ seq: 3, subject: 's', data, headers: head }, 'alpha')).rejects.toMatchObject({ code });
  });

  test('without headers has no id, and follows any', async () => {
    expect(batchId(undefined)).toBeUndefined();
    expect(batchId(headers())).toBeUndefined();
    for (const [text, id] of [
      ['.0', undefined],
      ['writer-1', undefined],
      ['writer-1.0', 'writer-1'],
      ['a.b.12', 'a.b'],
    ] as const) {
      const head = headers();
      head.set('Nats-Msg-Id', text);
      expect(batchId(head), text).toBe(id);
    }
    const message = { seq: 1, subject: 's', data: Buffer.from('[]') };
    const tips = openTips();
    const order = { life: { stream: 't', subject: 's' }, before: 'other', onFork: () => expect.unreachable() };
    const passed = await Array.fromAsync(inOrder(one(message), order, tips));
    expect(passed).toEqual([message]);
    expect(tips.idOf(order.life, 1)).toBeUndefined();
  });
});

describe('the order of batches', () => {
  const life = { stream: 't', subject: 's' };
  const batch = (seq: number, id: string, after?: string) => {
    const head = headers();
    head.set('Nats-Msg-Id', `${id}.0`);
    if (after !== undefined) head.set('Troupe-After', after);
    return { seq, subject: 's', data: Buffer.from('[]'), headers: head };
  };
  /** Which batches are passed on, and which does not follow the one before. */
  const follow = async (messages: ReturnType<typeof batch>[], before?: string) => {
    const forks: number[] = [];
    const order = { life, ...(before !== undefined && { before }), onFork: (seq: number) => void forks.push(seq) };
    const source = (async function* () {
      yield* messages;
    })();
    const passed = await Array.fromAsync(inOrder(source, order, openTips()));
    return [passed.map(({ seq }) => seq), forks];
  };

  test('ends where one was written after another batch than the one before it', async () => {
    expect(await follow([batch(1, 'a'), batch(2, 'b', 'a'), batch(3, 'c')])).toEqual([[1, 2, 3], []]);
    expect(await follow([batch(1, 'a'), batch(2, 'b', 'x'), batch(3, 'c', 'b')])).toEqual([[1], [2]]);
    expect(await follow([batch(2, 'b', 'a')], 'a')).toEqual([[2], []]);
    expect(await follow([batch(2, 'b', 'a')], 'x')).toEqual([[], [2]]);
    const error = { code: 'corrupt', message: expect.stringMatching(/^Batch 5 .* not follow the batch 4 /) as string };
    expect(forked('alpha', life, 5)).toMatchObject(error);
    // Nobody knows which batch was before it.
    expect(await follow([batch(2, 'b', 'a')])).toEqual([[2], []]);
  });

  test('is remembered by its last batch, which is doubted if it was seen before trouble, or soon after', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const noted: unknown[] = [];
    const tips = openTips((...note) => noted.push(note));
    const began = performance.now();
    tips.note(life, { seq: 5, id: 'five' });
    // Someone reads from the start.
    tips.note(life, { seq: 4, id: 'four' });
    expect([tips.idOf(life, 4), tips.idOf(life, 5), tips.idOf(life, 6)]).toEqual([undefined, 'five', undefined]);
    const doubts = (troubledAt: number) => [4, 5].map((seq) => tips.isDoubtful(life, seq, began + troubledAt));
    expect(doubts(-5_000)).toEqual([false, false]);
    expect(doubts(-4_999)).toEqual([false, true]);
    // It is there again.
    vi.advanceTimersByTime(5_000);
    tips.note(life, { seq: 5, id: 'five' });
    expect([doubts(0), doubts(1)]).toEqual([
      [false, false],
      [false, true],
    ]);
    tips.note(life, { seq: 6, id: undefined });
    expect([tips.idOf(life, 5), tips.idOf(life, 6)]).toEqual([undefined, undefined]);
    expect(noted).toEqual([
      ['s', 5, 'five'],
      ['s', 5, 'five'],
      ['s', 6, undefined],
    ]);
  });
});

test('names: any text is a team, and the name of its stream says which, if that is not too long', () => {
  for (const [team, encoded] of [
    ['a-b_9', 'a-b_9'],
    ['', '='],
    ['Aä\n', '=41=c3=a4=0a'],
    ['=~', '=3d=7e'],
    ['x'.repeat(150), 'x'.repeat(150)],
  ] as const) {
    expect(encodeTeam(team)).toBe(encoded);
    expect(decodeTeam(encoded)).toBe(team);
  }
  const hash = encodeTeam('x'.repeat(151));
  expect(hash).toMatch(/^~[0-9a-f]{64}$/);
  expect(decodeTeam(hash)).toBeUndefined();
  expect(lastWord('a.b.c')).toBe('c');
});

test('names: half a character is no name, and a stream of another journal is no team', () => {
  expect(() => encodeTeam('\ud800')).toThrow('half a character');
  expect(namesOf('troupe').teamOf('other_alpha')).toBeUndefined();
  expect(namesOf('troupe').teamOf('troupe_alpha')).toBe('alpha');
});

test('advice names some of the teams that differ from the settings, and how many more', () => {
  const odd = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((team) => ({ team, replicas: 1 }));
  expect(oddAdvice('nats://x', { replicas: 3, maxBytes: 100 }, odd)).toBe(
    'These teams do not have the settings of the journal (3 replicas, 100 bytes): a, b, c, d, e and 2 more. ' +
      'To apply them: troupe journal init nats://x',
  );
});

test('streams of teams are compared with the settings, and with their leaders', () => {
  const info = (name: string, more: { replicas?: number; bytes?: number; end?: number; peers?: object[] } = {}) =>
    ({
      config: { name: `troupe_${name}`, num_replicas: more.replicas ?? 3, max_bytes: more.bytes ?? -1 },
      state: { last_seq: more.end ?? 1 },
      ...(more.peers && { cluster: { replicas: more.peers } }),
    }) as unknown as StreamInfo;
  const [well, away, behind] = [
    { offline: false, current: true },
    { offline: true, current: true },
    { offline: false, current: false },
  ];
  expect(keptIn([info('empty', { end: 0 }), info('a', { peers: [well, well] }), info('b')], { replicas: 3 })).toEqual({
    teams: 2,
    odd: [],
    lagging: [],
  });
  const infos = [
    info('one', { replicas: 1, bytes: 5 }),
    info('small', { bytes: 4, peers: [well, away] }),
    info('free', { peers: [behind, well] }),
    info('right', { bytes: 5, peers: [] }),
  ];
  expect(keptIn(infos, { replicas: 3, maxBytes: 5 })).toStrictEqual({
    teams: 4,
    odd: [
      { team: 'one', replicas: 1, maxBytes: 5 },
      { team: 'small', replicas: 3, maxBytes: 4 },
      { team: 'free', replicas: 3 },
    ],
    lagging: ['small', 'free'],
  });
  expect(oddAdvice('nats://x', { replicas: 1 }, [])).toBeUndefined();
  expect(oddAdvice('nats://x', { replicas: 1 }, [{ team: 'a', replicas: 3 }])).toMatch(
    /\(1 replica, no bound\): a\. To/,
  );
});

test('the team of a stream is in its name, or in its description', () => {
  const hash = `troupe_~${'a'.repeat(64)}`;
  expect(teamIn({ name: 'troupe_al_pha' })).toBe('al_pha');
  expect(teamIn({ name: hash, description: '{"team":"Alpha"}' })).toBe('Alpha');
  expect(teamIn({ name: hash, description: '{}' })).toBe(hash);
  expect(teamIn({ name: hash })).toBe(hash);
});

describe('what ends with a signal', () => {
  /** Two values, and then what `after` does. */
  async function* source(after: () => Promise<unknown>, onEnd: () => void = () => {}) {
    try {
      yield 1;
      yield 2;
      await after();
    } finally {
      onEnd();
    }
  }

  test('ends with its source, also by an error', async () => {
    const { signal } = new AbortController();
    expect(
      await Array.fromAsync(
        endWith(
          source(async () => {}),
          signal,
        ),
      ),
    ).toEqual([1, 2]);
    const failing = endWith(
      source(() => Promise.reject(new Error('failed'))),
      signal,
    );
    await expect(Array.fromAsync(failing)).rejects.toThrow('failed');
  });

  test('ends while its source waits, and ends the source when that goes on', async () => {
    const end = new AbortController();
    const gate = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const passed: number[] = [];
    for await (const value of endWith(
      source(() => gate.promise, ended.resolve),
      end.signal,
    )) {
      passed.push(value);
      if (value === 2) setImmediate(() => end.abort());
    }
    expect(passed).toEqual([1, 2]);
    gate.resolve();
    await ended.promise;
  });

  test('does not begin after the signal, and ends its source if nobody listens any more', async () => {
    const ended = Promise.withResolvers<void>();
    expect(
      await Array.fromAsync(
        endWith(
          source(async () => {}),
          AbortSignal.abort(),
        ),
      ),
    ).toEqual([]);
    for await (const value of endWith(
      source(async () => {}, ended.resolve),
      new AbortController().signal,
    )) {
      if (value === 1) break;
    }
    await ended.promise;
  });
});

test('a lease is as long as cards last, or shorter if that was announced', () => {
  const max_age = 60_000 * 1_000_000;
  for (const [description, leaseMs] of [
    [undefined, 60_000],
    ['{"leaseMs":30000}', 30_000],
    ['{"leaseMs":1}', 1],
    ['{"leaseMs":90000}', 60_000],
    ['{"leaseMs":0}', 60_000],
    ['{"leaseMs":"soon"}', 60_000],
    ['null', 60_000],
    ['garbage', 60_000],
  ] as const) {
    expect(leaseIn({ max_age, ...(description !== undefined && { description }) }), description).toBe(leaseMs);
  }
});

describe('turns', () => {
  test('of one team follow each other, also after a failure; teams do not wait for each other', async () => {
    const turns = openTurns();
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = turns.run('a', async () => {
      await gate.promise;
      log.push('a1');
      throw new Error('failed');
    });
    const second = turns.run('a', async () => void log.push('a2'));
    await turns.run('b', async () => void log.push('b1'));
    expect(log).toEqual(['b1']);
    gate.resolve();
    await expect(first).rejects.toThrow('failed');
    await second;
    expect(log).toEqual(['b1', 'a1', 'a2']);
  });

  test('are drained when the last one of each team is over', async () => {
    const turns = openTurns();
    const log: string[] = [];
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const runs = gates.map(({ promise }, at) => turns.run('a', () => promise.then(() => void log.push(`${at}`))));
    const drained = turns.drained().then(() => log.push('drained'));
    gates[0]?.resolve();
    await runs[0];
    await nextTurn();
    const late = turns.drained().then(() => log.push('drained'));
    await turns.run('b', async () => {});
    expect(log).toEqual(['0']);
    gates[1]?.resolve();
    await Promise.all([drained, late]);
    expect(log).toEqual(['0', '1', 'drained', 'drained']);
    await turns.drained();
  });
});

test('reading an object that never comes ends after its time, and leaves no timer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  expect(await withinTime(Promise.resolve('here'), 10_000)).toBe('here');
  expect(vi.getTimerCount()).toBe(0);
  const late = withinTime(new Promise<never>(() => {}), 10_000);
  const told = expect(late).rejects.toMatchObject({
    code: 'storage',
    message: 'The servers did not send it within 10 s.',
  });
  vi.advanceTimersByTime(10_000);
  await told;
});

async function* one<T>(value: T): AsyncGenerator<T> {
  yield value;
}

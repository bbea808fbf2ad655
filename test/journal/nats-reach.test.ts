import { rmSync, writeFileSync } from 'node:fs';
import { connect as connectSocket, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { PeerCertificate } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { JetStreamApiError } from '@nats-io/jetstream';
import { connect, errors, nkeys } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { NatsAddress } from '../../src/journal/nats/address.ts';
import { openBells } from '../../src/journal/nats/bells.ts';
import { checkHost, connectTo, orderServers, reachServers } from '../../src/journal/nats/connect.ts';
import { ANSWER } from '../../src/journal/nats/errors.ts';
import { openLink, patiently } from '../../src/journal/nats/link.ts';
import { REQUEST_MS, watchReach } from '../../src/journal/nats/reach.ts';
import { startProxy } from '../nats/proxy.ts';
import { freePorts } from '../nats/server.ts';
import { serveModel } from '../simulator/nats/on-loopback.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

let servers: Awaited<ReturnType<typeof serveModel>>;
let there: string;

beforeAll(async () => {
  servers = await serveModel();
  there = servers.url.slice('nats://'.length);
});
afterAll(() => servers?.stop());

/** Listens, and accepts none of the few connections that may wait. */
const BUSY_SERVER = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

const addressOf = (...list: string[]): NatsAddress => ({ servers: list, prefix: 'troupe', tls: false });

async function closedServer(): Promise<string> {
  const [port = 0] = await freePorts(1);
  return `127.0.0.1:${port}`;
}

describe('servers', () => {
  test('that answer come before those that do not', async () => {
    const closed = await closedServer();
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await new Promise((resolve) => silent.once('listening', resolve));
    const mute = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    // One that says nothing may be busy; one that is closed is down.
    for (const list of [
      [closed, mute, there],
      [there, mute, closed],
    ]) {
      expect(await orderServers(addressOf(...list))).toEqual([there, mute, closed]);
    }
    expect(await reachServers(addressOf(closed, there))).toMatchObject([
      { failure: { code: 'ECONNREFUSED' } },
      { server: there },
    ]);
  });

  test('that were only looked for are left again', async () => {
    let left = 0;
    const server = createServer((socket) => {
      socket.on('error', () => {}).on('close', () => left++);
      socket.resume().write('INFO {} \r\n');
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = addressOf(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(await reachServers(address)).toEqual([{ server: address.servers[0] }]);
    await until('the first connection has ended', () => left === 1);
    expect(await orderServers(address)).toEqual(address.servers);
    await until('the second connection has ended', () => left === 2);
  });

  test('that are given by IP address have a certificate for one of the addresses, others one for their name', () => {
    const check = (servers: string[], host: string, subjectaltname: string) =>
      checkHost({ servers }, host, { subject: {}, subjectaltname } as PeerCertificate);
    const wrong = { code: 'ERR_TLS_CERT_ALTNAME_INVALID' };
    const addresses = ['10.0.0.1:4222', '10.0.0.2:4222'];
    expect(check(addresses, 'localhost', 'IP Address:10.0.0.2')).toBeUndefined();
    expect(check(addresses, 'localhost', 'IP Address:10.0.0.3')).toMatchObject(wrong);
    expect(check(['a:4222'], 'localhost', 'DNS:a')).toMatchObject(wrong);
    expect(check(['a:4222', ...addresses], 'a', 'DNS:a')).toBeUndefined();
    expect(check(['a:4222', ...addresses], 'a', 'IP Address:10.0.0.1')).toMatchObject(wrong);
  });

  test('are named, with what to do, if no server answers', async () => {
    await expect(orderServers(addressOf(await closedServer()))).rejects.toThrow(/no server listens there/);
    await expect(orderServers(addressOf('a..b:4222'))).rejects.toThrow(/there is no such host/);
  });

  test('that accept no connection are named, with what to do', async () => {
    const worker = new Worker(BUSY_SERVER, { eval: true });
    onTestFinished(() => worker.terminate().then(() => undefined));
    const port = await new Promise<number>((resolve) => void worker.once('message', resolve));
    let waiting = 0;
    const sockets = Array.from({ length: 8 }, () => connectSocket(port, '127.0.0.1', () => waiting++));
    for (const socket of sockets) socket.on('error', () => {});
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    await until('its queue is full', () => waiting >= 2);
    await expect(orderServers(addressOf(`127.0.0.1:${port}`), { reachMs: 100 })).rejects.toThrow(
      /no answer within 0\.1 s\. Check that nats-server runs there/,
    );
    // What is known of another one says more.
    const both = addressOf(`127.0.0.1:${port}`, await closedServer());
    await expect(orderServers(both, { reachMs: 100 })).rejects.toThrow(/no server listens there/);
  });

  test('that break off the encryption are named, with what to do', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {}).write('INFO {"version":"2.12.1","tls_required":true,"max_payload":1} \r\n');
      socket.once('data', () => socket.end('no'));
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const address = { ...addressOf(`127.0.0.1:${port}`), tls: true };
    await expect(connectTo(address, address.servers)).rejects.toThrow(/could not be encrypted/);
  });

  test('are not asked with a key that is none', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, 'nothing');
    const address = addressOf(there);
    await expect(orderServers({ ...address, nkeyFile: file })).rejects.toThrow(/holds no nkey/);
    await expect(orderServers({ ...address, credsFile: file })).rejects.toThrow(/is not a credentials file/);
    // It is removed before the server has greeted.
    writeFileSync(file, nkeys.createUser().getSeed());
    const connecting = connectTo({ ...address, nkeyFile: file }, address.servers);
    rmSync(file);
    await expect(connecting).rejects.toThrow(/^The nkey file cannot be read/);
    writeFileSync(file, 'nothing');
    // Files for encryption are only read here.
    expect(await orderServers({ ...address, certFile: file, keyFile: file, caFile: file })).toEqual([there]);
    const none = `${file}.none`;
    for (const [more, what] of [
      [{ caFile: none }, 'certificate authority'],
      [{ certFile: none }, 'certificate'],
      [{ keyFile: none }, 'key of the certificate'],
      [{ credsFile: none }, 'credentials file'],
    ] as const) {
      await expect(orderServers({ ...address, ...more })).rejects.toThrow(`The ${what} cannot be read`);
    }
  });

  test('that break off a connection are tried again', async () => {
    const { server, port } = await startResetting(1);
    const address = addressOf(`127.0.0.1:${port}`);
    const nc = await connectTo(address, address.servers, { connectMs: 1_000 });
    onTestFinished(() => nc.close());
    expect(server.resets).toBe(1);
  });

  test('that break off every connection are given up', async () => {
    const { server, port } = await startResetting(Infinity);
    const address = addressOf(`127.0.0.1:${port}`);
    const connecting = connectTo(address, address.servers, { connectMs: 50 });
    await expect(connecting).rejects.toMatchObject({ code: 'storage' });
    // Three attempts, and in between a look whether it still greets.
    await until('all are counted', () => server.connections === 5);
  });

  /** Greets as a server does, and breaks off the first connections when the client has said something. */
  async function startResetting(times: number) {
    const told = { resets: 0, connections: 0 };
    const proxied = await startProxy(servers.model.nodes[0]!.port);
    const server = createServer((client) => {
      told.connections++;
      const upstream = connectSocket(proxied.port, '127.0.0.1');
      upstream.on('error', () => {});
      client.on('error', () => {});
      upstream.pipe(client);
      client.on('close', () => upstream.destroy());
      client.on('data', (said) => {
        if (told.resets >= times) return void upstream.write(said);
        told.resets++;
        client.resetAndDestroy();
      });
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { server: told, port: (server.address() as AddressInfo).port };
  }
});

describe('what is known of servers', () => {
  async function watch(options = {}) {
    const nc = await connect({ servers: there, reconnectTimeWait: 1, reconnectJitter: 1, maxReconnectAttempts: -1 });
    onTestFinished(() => nc.close());
    return { nc, reach: watchReach(nc, 'nats://there', options) };
  }

  test('is that they acknowledge nothing, until they do; one caller at a time finds out', async () => {
    const { reach } = await watch();
    expect(reach.error().message).toMatch(/are not reachable .* troupe doctor tests both\.$/);
    expect(reach.error()).toMatchObject({ code: 'storage', name: 'JournalAwayError' });
    const now = performance.now();
    for (let at = now - 60_000; at < now; at += 5 * REQUEST_MS) reach.unacknowledged(at);
    expect(reach.isMute).toBe(true);
    expect([reach.mayProbe(), reach.mayProbe()]).toEqual([true, false]);
    expect(reach.error({ tried: true }).message).toMatch(/acknowledge nothing .* It is unknown whether it was done/);
    expect(reach.error({ tried: false }).message).toMatch(/Nothing was changed\.$/);
    reach.acknowledged();
    expect(reach.isMute).toBe(false);
  });

  test('is that they acknowledge nothing: of requests only one is sent in a while, and those of heartbeats', async () => {
    const link = await openLink(addressOf(there), { patienceMs: 0, closing: new AbortController().signal });
    onTestFinished(() => link.nc.close());
    const now = performance.now();
    for (let at = now - 60_000; at < now; at += 5 * REQUEST_MS) link.reach.unacknowledged(at);
    const ask = (one = link) => patiently(one, async () => 'an answer');
    expect(await Promise.allSettled([ask(), ask(), ask({ ...link, persists: true })])).toMatchObject([
      { value: 'an answer' },
      { reason: { message: expect.stringMatching(/acknowledge nothing/) as string } },
      { value: 'an answer' },
    ]);
  });

  test('is that one withholds answers: it is left, but not twice within a moment', async () => {
    const { nc, reach } = await watch({ stuckMs: 0 });
    await reach.unheard(performance.now() - REQUEST_MS, { isTimeout: true });
    expect(reach.awaySince).toBeDefined();
    // An answer of the old connection does not count.
    reach.heard();
    expect(reach.awaySince).toBeDefined();
    await until('it is connected again', () => reach.awaySince === undefined);
    await reach.unheard(performance.now() - REQUEST_MS, { isTimeout: true });
    expect(reach.awaySince).toBeUndefined();
    await nc.close();
    await reach.unheard(performance.now(), { isTimeout: true });
    expect(reach.silentSince).toBeDefined();
  });
});

describe('trouble with servers, by a clock that stands still', () => {
  async function watch({ stuckMs, port = servers.model.nodes[0]!.port }: { stuckMs?: number; port?: number } = {}) {
    const nc = await connect({ port, reconnectTimeWait: 1, reconnectJitter: 1, maxReconnectAttempts: -1 });
    onTestFinished(() => nc.close());
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const reach = watchReach(nc, 'nats://there', { stuckMs });
    const goTo = (at: number) => vi.advanceTimersByTime(at - performance.now());
    return {
      nc,
      reach,
      goTo,
      /** A write of that time is not acknowledged within its timeout. */
      unacknowledged: (askedAt: number) => {
        goTo(askedAt + REQUEST_MS);
        reach.unacknowledged(askedAt);
      },
    };
  }
  const shown = (at: number) => new Date(performance.timeOrigin + at).toISOString().replace(/\.\d+/, '');

  test('they are mute when they acknowledged nothing for 15 s, which are 12 s and a chance for another one', async () => {
    const { reach, unacknowledged } = await watch();
    unacknowledged(0);
    expect(reach.isMute).toBe(false);
    unacknowledged(12_999);
    expect(reach.isMute).toBe(false);
    unacknowledged(13_000);
    expect(reach.isMute).toBe(true);
    expect(reach.troubledAt).toBe(15_000);
    reach.acknowledged();
    expect(reach.isMute).toBe(false);
  });

  test('a request counts for at most its timeout', async () => {
    const { reach, goTo } = await watch();
    goTo(60_000);
    reach.unacknowledged(0);
    expect(reach.isMute).toBe(false);
  });

  test('missing answers belong together if less than 15 s are between them', async () => {
    const { reach, unacknowledged } = await watch();
    unacknowledged(0);
    unacknowledged(REQUEST_MS + 15_000);
    expect(reach.isMute).toBe(false);
    unacknowledged(2 * REQUEST_MS + 29_999);
    expect(reach.isMute).toBe(true);
  });

  test('one caller per second probes mute servers', async () => {
    const { reach, goTo } = await watch();
    expect(reach.mayProbe()).toBe(true);
    goTo(999);
    expect(reach.mayProbe()).toBe(false);
    goTo(1_000);
    expect(reach.mayProbe()).toBe(true);
    expect(reach.mayProbe()).toBe(false);
  });

  test('the error says since when', async () => {
    const { reach, goTo, unacknowledged } = await watch({ stuckMs: 0 });
    goTo(20_000);
    expect(reach.error().situation).toBe(`The NATS servers at nats://there are not reachable (since ${shown(20_000)})`);
    unacknowledged(30_000);
    goTo(40_000);
    const mute = `The NATS servers at nats://there acknowledge nothing (since ${shown(30_000)})`;
    expect(reach.error().situation).toBe(mute);
    expect(reach.error().message).toMatch(
      /: check that most of them run and reach each other; troupe doctor tests them\.$/,
    );
    await reach.unheard(38_000, { isTimeout: true });
    goTo(50_000);
    expect(reach.error().situation).toBe(`The NATS servers at nats://there are not reachable (since ${shown(40_000)})`);
  });

  test('a refusal is no silence: since then answers are missing, but the server is not left', async () => {
    const { reach, goTo } = await watch({ stuckMs: 0 });
    for (const askedAt of [1_000, 3_000]) {
      goTo(askedAt + REQUEST_MS);
      await reach.unheard(askedAt, { isTimeout: false });
    }
    expect(reach).toMatchObject({ silentSince: 1_000, awaySince: undefined, troubledAt: 5_000 });
    reach.heard();
    expect(reach.silentSince).toBeUndefined();
  });

  test('a server that withholds answers is left again after 10 s, and no earlier', async () => {
    const { reach, goTo } = await watch({ stuckMs: 0 });
    goTo(REQUEST_MS);
    await reach.unheard(0, { isTimeout: true });
    expect(reach.awaySince).toBe(REQUEST_MS);
    await until('it is connected again', () => reach.awaySince === undefined);
    goTo(REQUEST_MS + 9_999);
    await reach.unheard(10_000, { isTimeout: true });
    expect(reach.awaySince).toBeUndefined();
    goTo(REQUEST_MS + 10_000);
    await reach.unheard(10_000, { isTimeout: true });
    expect(reach.awaySince).toBe(REQUEST_MS + 10_000);
  });

  test('a server that answers pings is left when answers were missing for longer than elections take', async () => {
    const { reach, goTo } = await watch({ stuckMs: 5_000 });
    for (const askedAt of [0, 2_999]) {
      goTo(askedAt + REQUEST_MS);
      await reach.unheard(askedAt, { isTimeout: true });
      expect(reach.awaySince).toBeUndefined();
    }
    goTo(5_000);
    await reach.unheard(3_000, { isTimeout: true });
    expect(reach.awaySince).toBe(5_000);
  });

  test('answers that were missing before a connection was restored do not count', async () => {
    const { nc, reach, goTo } = await watch({ stuckMs: 5_000 });
    goTo(REQUEST_MS);
    await reach.unheard(0, { isTimeout: true });
    goTo(3_000);
    await nc.reconnect();
    await until('it is connected again', () => reach.troubledAt === 3_000 && reach.awaySince === undefined);
    goTo(6_000);
    await reach.unheard(4_000, { isTimeout: true });
    expect(reach.awaySince).toBeUndefined();
  });

  test('a server without a connection is away from the first moment until there is one', async () => {
    const proxy = await startProxy(servers.model.nodes[0]!.port);
    const { reach, goTo } = await watch({ port: proxy.port });
    goTo(1_000);
    proxy.cut();
    await until('it is away', () => reach.awaySince !== undefined);
    goTo(2_000);
    await until('it has tried again', () => proxy.refused > 1);
    await reach.unheard(1_500, { isTimeout: true });
    reach.heard();
    expect(reach.awaySince).toBe(1_000);
    goTo(3_000);
    proxy.mend();
    await until('it is back', () => reach.awaySince === undefined);
    expect(reach.troubledAt).toBe(3_000);
  });

  test('a silent server is away since the request that it did not answer', async () => {
    const silent = await serveModel();
    onTestFinished(() => silent.stop());
    const { reach, goTo } = await watch({ port: silent.model.nodes[0]!.port });
    silent.model.nodes[0]!.isPaused = true;
    goTo(7_000);
    await reach.unheard(5_000, { isTimeout: true });
    expect(reach.awaySince).toBe(5_000);
  });
});

describe('a request', () => {
  async function openThere(options = {}, server = there) {
    const link = await openLink(addressOf(server), {
      patienceMs: 0,
      closing: new AbortController().signal,
      ...options,
    });
    onTestFinished(() => link.nc.close());
    return link;
  }

  /** Fails with these errors, one after the other, then succeeds. */
  function failing(...left: Error[]) {
    const work = {
      attempts: [] as number[],
      run: async (attempt: number) => {
        work.attempts.push(attempt);
        const failure = left.shift();
        if (failure) throw failure;
        return 'an answer';
      },
    };
    return work;
  }
  const refused = (code: number) => new JetStreamApiError({ code: 400, err_code: code, description: 'refused' });

  test('is sent again while its error passes, with pauses', async () => {
    const link = await openThere({ patienceMs: 60_000 });
    const work = failing(new errors.TimeoutError(), new errors.TimeoutError());
    expect(await patiently(link, work.run)).toBe('an answer');
    expect(work.attempts).toEqual([1, 2, 3]);
    const hasty = failing(...Array.from({ length: 1_000 }, () => new errors.TimeoutError()));
    await expect(patiently({ ...link, patienceMs: 300 }, hasty.run)).rejects.toThrow(errors.TimeoutError);
    expect(link.reach.silentSince).toBeDefined();
    // The first pause alone is at least 50 ms.
    expect(hasty.attempts.length).toBeLessThan(8);
  });

  test('is not sent again after an error that stays, unless its caller says that it passes', async () => {
    const link = await openThere({ patienceMs: 60_000 });
    const once = failing(refused(12_345));
    await expect(patiently(link, once.run)).rejects.toThrow('refused');
    expect(once.attempts).toEqual([1]);
    expect(link.reach.silentSince).toBeUndefined();
    const again = failing(refused(12_345));
    expect(await patiently(link, again.run, () => true)).toBe('an answer');
  });

  test('is sent again for a moment if a cluster does not know its servers', async () => {
    const work = failing(refused(ANSWER.noSuitablePeers));
    expect(await patiently(await openThere(), work.run)).toBe('an answer');
    expect(work.attempts).toEqual([1, 2]);
  });

  test('is not sent again if answers were missing for longer than the patience before it', async () => {
    const link = await openThere({ patienceMs: 60_000 });
    await link.reach.unheard(performance.now() - 60_000, { isTimeout: false });
    const work = failing(new errors.TimeoutError());
    await expect(patiently(link, work.run)).rejects.toThrow(errors.TimeoutError);
    expect(await patiently(link, work.run)).toBe('an answer');
    // An answer ends the silence.
    const later = failing(new errors.TimeoutError());
    expect(await patiently(link, later.run)).toBe('an answer');
  });

  test('is not sent again on a connection that is closed', async () => {
    const link = await openThere({ patienceMs: 60_000 });
    await link.nc.close();
    const work = failing(new errors.ClosedConnectionError());
    await expect(patiently(link, work.run)).rejects.toThrow(errors.ClosedConnectionError);
  });

  test('to servers that acknowledge nothing fails with that, and whether it was tried', async () => {
    const link = await openThere({ patienceMs: 60_000 });
    const now = performance.now();
    for (let at = now - 60_000; at < now; at += 5 * REQUEST_MS) link.reach.unacknowledged(at);
    const work = failing(new errors.TimeoutError());
    const tried = patiently({ ...link, persists: true }, work.run);
    await expect(tried).rejects.toThrow(/acknowledge nothing .* It is unknown whether it was done/);
  });

  test('to servers that are away waits for them for a while, and then fails at once', async () => {
    const proxy = await startProxy(servers.model.nodes[0]!.port);
    const link = await openThere({ patienceMs: 60_000, awayMs: 60_000 }, `127.0.0.1:${proxy.port}`);
    proxy.cut();
    await until('they are away', () => link.reach.awaySince !== undefined);
    const work = failing();
    await expect(patiently({ ...link, awayMs: 0 }, work.run)).rejects.toThrow(
      /not reachable .* Nothing was changed\.$/,
    );
    const waiting = patiently(link, work.run);
    expect(work.attempts).toEqual([]);
    proxy.mend();
    expect(await waiting).toBe('an answer');
    expect(work.attempts).toEqual([1]);
  });
});

describe('the bell of a team', () => {
  async function bellsThere(): Promise<ReturnType<typeof openBells>> {
    const link = await openLink(addressOf(there), { patienceMs: 0, closing: new AbortController().signal });
    onTestFinished(() => link.nc.close());
    const bells = openBells(link);
    await link.nc.flush();
    return bells;
  }

  test('wakes those that wait for it, and nobody else', async () => {
    const bells = await bellsThere();
    // Without the bell, those that wait would look after a while.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { signal } = new AbortController();
    const heard: string[] = [];
    const stops = ['alpha', 'beta'].map((team) => bells.listen(team, () => heard.push(team)));
    bells.ring('alpha');
    await bells.wait('alpha', signal).catch(() => expect.unreachable());
    expect(heard).toEqual(['alpha']);
    stops[0]?.();
    bells.ring('beta');
    bells.ring('alpha');
    await bells.wait('alpha', signal);
    expect(heard).toEqual(['alpha', 'beta']);
  });

  test('may get lost: a wait ends after two seconds, or when it is aborted', async () => {
    const bells = await bellsThere();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const before = vi.getTimerCount();
    const waiting = bells.wait('alpha', new AbortController().signal);
    vi.advanceTimersByTime(2_000);
    await waiting;
    const end = new AbortController();
    const ending = bells.wait('alpha', end.signal);
    end.abort();
    await ending;
    expect(vi.getTimerCount()).toBe(before);
  });
});

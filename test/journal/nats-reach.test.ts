import { rmSync, writeFileSync } from 'node:fs';
import { connect as connectSocket, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { connect, nkeys } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { NatsAddress } from '../../src/journal/nats/address.ts';
import { connectTo, orderServers, reachServers } from '../../src/journal/nats/connect.ts';
import { openLink, patiently } from '../../src/journal/nats/link.ts';
import { REQUEST_MS, watchReach } from '../../src/journal/nats/reach.ts';
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
    expect(await orderServers(addressOf(closed, there))).toEqual([there, closed]);
    expect(await reachServers(addressOf(closed, there))).toMatchObject([
      { failure: { code: 'ECONNREFUSED' } },
      { server: there },
    ]);
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
    await expect(connecting).rejects.toThrow(/The nkey file cannot be read/);
    writeFileSync(file, 'nothing');
    // Files for encryption are only read here.
    expect(await orderServers({ ...address, certFile: file, keyFile: file, caFile: file })).toEqual([there]);
  });
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

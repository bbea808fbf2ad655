import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { anchorAddress, readNatsAddress, repeatAddress } from '../../src/journal/nats/address.ts';
import { judgeDurability } from '../../src/journal/nats/durability.ts';

describe('the address of a journal on NATS', () => {
  test('names servers, with a port of its own, and files relative to a folder', () => {
    const text = 'nats://a,b:4333?prefix=p&ca=ca.pem&cert=c.pem&key=/k.pem&monitor=http://a:8222';
    expect(readNatsAddress(text, '/home')).toEqual({
      servers: ['a:4222', 'b:4333'],
      prefix: 'p',
      tls: true,
      caFile: '/home/ca.pem',
      certFile: '/home/c.pem',
      keyFile: '/k.pem',
      monitor: 'http://a:8222',
    });
  });

  test.each([
    ['nats://localhost', false],
    ['nats://[::1]:4222', false],
    ['nats://127.0.0.9', false],
    ['nats://127.example', true],
    ['nats://10.0.0.1', true],
    ['nats://localhost,10.0.0.1', true],
    ['tls://localhost', true],
  ])('%s is encrypted: %s', (text, isEncrypted) => {
    expect(readNatsAddress(text, '/').tls).toBe(isEncrypted);
  });

  test.each([
    ['http://a', 'write nats://host:port'],
    ['nats://a:b:c', '"a:b:c" is not a host and port'],
    ['nats://a,,b', 'a host is missing'],
    ['nats://me:secret@a', 'everybody on the machine can see a password'],
    ['nats://a?creds=x&nkey=y', 'give creds or nkey, not both'],
    ['nats://a?cert=x', 'cert and key go together'],
    ['nats://a?monitor=a:8222', 'monitor is an address'],
    ['nats://a?ca=', 'ca is empty'],
    ['nats://a?what=1', 'there is no option "what"'],
    ['nats://a?prefix=A', 'a prefix is at most 32'],
  ])('%s is refused: %s', (text, why) => {
    expect(() => readNatsAddress(text, '/')).toThrow(why);
  });

  test('is repeated for every folder, unless it names a credential', () => {
    expect(repeatAddress('nats://a', '/home')).toBe('tls://a:4222');
    expect(repeatAddress('nats://localhost', '/home')).toBe('nats://localhost:4222');
    expect(repeatAddress('nats://a?ca=c.pem', '/home')).toBe('tls://a:4222?ca=%2Fhome%2Fc.pem');
    expect(repeatAddress('nats://a?prefix=p&monitor=http://a:1', '/')).toBe(
      'tls://a:4222?prefix=p&monitor=http%3A%2F%2Fa%3A1',
    );
    const secret = ['creds=x', 'nkey=x', 'cert=x&key=y'].map((one) => repeatAddress(`nats://a?${one}`, '/'));
    expect(secret).toEqual([undefined, undefined, undefined]);
  });

  test('gets absolute paths for use in another folder', () => {
    expect(anchorAddress('nats://a?prefix=p', '/home')).toBe('nats://a?prefix=p');
    expect(anchorAddress('nats://a?ca=c.pem&nkey=/n', '/home')).toBe('nats://a?ca=%2Fhome%2Fc.pem&nkey=%2Fn');
  });
});

describe('when servers flush', () => {
  /** Monitoring that answers so. */
  async function monitor(status: number, config?: object): Promise<string> {
    const server = createServer((_request, response) => {
      response.writeHead(status).end(JSON.stringify({ jetstream: { config } }));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const judge = (monitored: string | undefined, version = '2.11.0', replicas = 1) =>
    judgeDurability(
      { ...readNatsAddress('nats://localhost', '/'), ...(monitored !== undefined && { monitor: monitored }) },
      { version, replicas },
    );
  const advice = (text: string): string => expect.stringContaining(text) as string;

  test('is known of old servers, and else only from their monitoring', async () => {
    expect(await judge(undefined, '2.9.10')).toEqual({
      durability: 'lazy',
      advice: advice(': a power failure may lose'),
    });
    expect(await judge(undefined, '2.9.10', 3)).toEqual({
      durability: 'replicated',
      advice: advice('servers may hold different histories'),
    });
    expect(await judge(undefined)).toEqual({ durability: 'lazy', advice: advice('cannot be asked over NATS') });
  });

  test('is told by each of several servers', async () => {
    const good = await monitor(200, { sync_always: true });
    expect(await judge(good)).toEqual({ durability: 'fsync-before-ack' });
    const late = await monitor(200, { sync_interval: 120e9 });
    expect(await judge(`${good},${late}`)).toEqual({
      durability: 'lazy',
      advice: advice(`${late} acknowledges before it has flushed, every 120 s`),
    });
    const vague = await monitor(200);
    expect(await judge(vague)).toEqual({
      durability: 'lazy',
      advice: advice('before it has flushed: a power failure'),
    });
  });

  test('is unknown if the monitoring does not answer, or with an error', async () => {
    for (const silent of [await monitor(500), 'http://127.0.0.1:1']) {
      expect(await judge(silent, '2.11.0', 3)).toEqual({
        durability: 'replicated',
        advice: advice(`${silent} does not answer`),
      });
    }
  });
});

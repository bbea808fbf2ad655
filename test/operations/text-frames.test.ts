import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { textFrames } from '../../src/operations/text-frames.ts';

/** Texts around every length at which the header changes, in characters of one to four bytes. */
const TEXTS = [
  '',
  'x',
  ...[125, 126, 127, 65_535, 65_536, 300_000].map((length) => 'x'.repeat(length)),
  ...['é', '€', '😀'].flatMap((letter) => [letter, letter.repeat(63), letter.repeat(40_000)]),
  '{"text":"line\\nbreak \u0000 \u2028"}',
];

test('frames are read as the messages that were written, in both directions', async () => {
  await using pair = await openPair();
  const heard = pair.heard(TEXTS.length);
  pair.carriers.client.write(textFrames(TEXTS, { masked: true }));
  pair.carriers.server.write(textFrames(TEXTS, { masked: false }));
  expect(await heard).toEqual({ server: TEXTS, client: TEXTS });
});

test('half a surrogate pair becomes U+FFFD, and the rest is kept', async () => {
  await using pair = await openPair();
  const heard = pair.heard(2);
  for (const [side, carrier] of Object.entries(pair.carriers)) {
    carrier.write(textFrames(['a\ud83d', 'b'], { masked: side === 'client' }));
  }
  expect(await heard).toEqual({ server: ['a\ufffd', 'b'], client: ['a\ufffd', 'b'] });
});

test('each message has its own mask, even after the buffer of random bytes runs out', () => {
  const texts = Array.from({ length: 3_000 }, () => 'text');
  const frames = textFrames(texts, { masked: true });
  const size = frames.length / texts.length;
  const masks = texts.map((_, i) => frames.readUInt32BE(i * size + 2));
  // About one in a million random masks is a repetition.
  expect(new Set(masks).size).toBeGreaterThan(texts.length - 10);
});

interface Pair extends AsyncDisposable {
  readonly carriers: { readonly client: Socket; readonly server: Socket };
  /** Resolves with the messages of both sides when each has `count`. */
  heard(count: number): Promise<{ server: string[]; client: string[] }>;
}

/** Two ends of a WebSocket from a library, with their TCP sockets. */
async function openPair(): Promise<Pair> {
  const listener = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  await once(listener, 'listening');
  const connected = once(listener, 'connection') as Promise<[WebSocket, IncomingMessage]>;
  const client = new WebSocket(`ws://127.0.0.1:${(listener.address() as AddressInfo).port}`, {
    perMessageDeflate: false,
  });
  const [[upgrade], [server, request]] = await Promise.all([
    once(client, 'upgrade') as Promise<[IncomingMessage]>,
    connected,
    once(client, 'open'),
  ]);
  return {
    carriers: { client: upgrade.socket, server: request.socket },
    async heard(count) {
      const [atServer, atClient] = await Promise.all([collect(server, count), collect(client, count)]);
      return { server: atServer, client: atClient };
    },
    async [Symbol.asyncDispose]() {
      client.terminate();
      server.terminate();
      listener.close();
      await once(listener, 'close');
    },
  };
}

function collect(socket: WebSocket, count: number): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const texts: string[] = [];
    socket.on('error', reject);
    socket.on('message', (data: Buffer) => {
      texts.push(data.toString('utf8'));
      if (texts.length === count) resolve(texts);
    });
  });
}

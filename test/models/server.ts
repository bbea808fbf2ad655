import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { ModelReply, ModelRequest, ModelScript, ModelServer } from './script.ts';

/** One HTTP request of an agent, and functions to answer it. */
export interface Exchange {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The decompressed JSON body, or undefined. */
  readonly body: unknown;
  /** Aborts when the agent disconnects. */
  readonly gone: AbortSignal;
  /** Records the request and asks the script. */
  ask(request: ModelRequest): Promise<ModelReply>;
  json(status: number, value: unknown, headers?: Readonly<Record<string, string>>): void;
  /** Starts a stream of server-sent events. After the agent has disconnected, events are dropped. */
  stream(headers?: Readonly<Record<string, string>>): EventStream;
}

/** A stream of server-sent events. */
export interface EventStream {
  /** Sends an event, with a name if the protocol names its events. */
  send(data: unknown, event?: string): void;
  end(): void;
}

/** Answers a request in a provider's protocol. */
export type Protocol = (exchange: Exchange) => Promise<void>;

/** The usage of a reply if the script gives none. */
export const USED = { input: 100, output: 10, cached: 0 };

/** A model server on loopback that speaks a protocol and answers by a script. */
export async function startModelServer(protocol: Protocol, script: ModelScript): Promise<ModelServer> {
  let current = script;
  const requests: ModelRequest[] = [];
  const ask = async (request: ModelRequest): Promise<ModelReply> => {
    requests.push(request);
    return current(request);
  };
  // Some agents send a request just when an idle connection is closed.
  const server = createServer(
    { keepAliveTimeout: 6 * 60_000 },
    (request, response) => void answer(protocol, ask, request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    use: (next) => (current = next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Yields the text of a reply: all of it, or held after its first line. Ends early if the agent disconnects. */
export async function* piecesOf({ text = '', held, pace }: ModelReply, gone: AbortSignal): AsyncGenerator<string> {
  if (text === '') return;
  if (pace) {
    for (const word of text.split(/(?<=\s)/)) {
      if (gone.aborted) return;
      yield word;
      await pause(pace.wordMs, gone);
    }
    return;
  }
  if (!held) return yield text;
  const line = text.indexOf('\n') + 1;
  yield text.slice(0, line);
  if (!gone.aborted) await Promise.race([held, once(gone, 'abort')]);
  if (!gone.aborted) yield text.slice(line);
}

/** Thinks as long as the reply's pace says, and gives the protocol's signs of it. Ends early if the agent disconnects. */
export async function think({ pace }: ModelReply, gone: AbortSignal, sign: () => void): Promise<void> {
  const { thinkMs = 0, signMs = Infinity } = pace ?? {};
  for (let left = thinkMs; left > 0 && !gone.aborted; left -= signMs) {
    await pause(Math.min(left, signMs), gone);
    if (signMs < Infinity) sign();
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
}

/** The headers of an answer, with `retry-after` if its error has one. */
export function headersOf({ error, headers }: ModelReply): Record<string, string> {
  return { ...headers, ...(error?.retryAfter !== undefined && { 'retry-after': String(error.retryAfter) }) };
}

async function answer(
  protocol: Protocol,
  ask: Exchange['ask'],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  // An agent that disconnects during an answer must not crash the tests.
  response.on('error', () => {});
  const url = new URL(request.url ?? '/', 'http://model');
  try {
    const body = await readJson(request);
    await protocol({
      method: request.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body,
      gone: gone.signal,
      ask,
      json: (status, value, headers = {}) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
      },
      stream: (headers = {}) => openStream(response, headers),
    });
  } catch (error) {
    // A script that throws is a mistake in a test. The agent gets the error, so that the test shows it.
    if (response.headersSent) response.destroy();
    else response.writeHead(400).end(JSON.stringify({ error: { message: String(error) } }));
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const packed = await buffer(request);
  if (packed.length === 0) return undefined;
  return JSON.parse(unpack(packed, request.headers['content-encoding']).toString('utf8'));
}

function unpack(bytes: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'gzip') return gunzipSync(bytes);
  if (encoding === 'deflate') return inflateSync(bytes);
  if (encoding === 'br') return brotliDecompressSync(bytes);
  if (encoding === 'zstd') return zstdDecompressSync(bytes);
  return bytes;
}

function openStream(response: ServerResponse, headers: Readonly<Record<string, string>>): EventStream {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers });
  response.flushHeaders();
  return {
    send(data, event) {
      if (response.destroyed) return;
      response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
    },
    end: () => void response.end(),
  };
}

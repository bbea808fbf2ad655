import { createConnection } from 'node:net';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

/** A response over HTTP. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Header lines as they are sent. A test may omit, repeat or misspell any of them. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

/** Sends bytes on a new TCP connection and waits until the server closes it; undefined if there was no answer. */
export async function sendBytes(port: number, bytes: string | Uint8Array): Promise<Answer | undefined> {
  const socket = createConnection({ host: '127.0.0.1', port });
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => {});
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  const [head = '', ...body] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const status = /^HTTP\/1\.1 (\d+)/.exec(first)?.[1];
  if (status === undefined) return undefined;
  const headers = lines
    .map((line) => line.split(/: (.*)/s))
    .map(([name = '', value = '']) => [name.toLowerCase(), value]);
  return {
    status: Number(status),
    headers: Object.fromEntries(headers) as Answer['headers'],
    body: body.join('\r\n\r\n'),
  };
}

/** A request with exactly these headers, and one that closes the connection afterwards. */
export function requestText(method: string, path: string, headers: HeaderLines, body = ''): string {
  const all = [
    ...headers,
    ['connection', 'close'],
    ...(body ? [['content-length', String(Buffer.byteLength(body))]] : []),
  ];
  return `${method} ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

/** The upgrade request of a WebSocket, as bytes. */
export function upgradeText(path: string, headers: HeaderLines): string {
  const all = [
    ...headers,
    ['connection', 'Upgrade'],
    ['upgrade', 'websocket'],
    ['sec-websocket-version', '13'],
    ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
  ];
  return `GET ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

/** A frame of a WebSocket client; every part of it can be wrong. */
export function webSocketFrame(
  payload: string | Uint8Array,
  {
    opcode = 1,
    fin = true,
    reserved = 0,
    masked = true,
    length,
  }: {
    opcode?: number;
    fin?: boolean;
    reserved?: number;
    masked?: boolean;
    length?: number;
  } = {},
): Buffer {
  const data = Buffer.from(payload);
  const said = length ?? data.length;
  const head = [(fin ? 0x80 : 0) | (reserved << 4) | opcode];
  if (said < 126) head.push(said);
  else if (said < 65_536) head.push(126, said >> 8, said & 0xff);
  else head.push(127, 0, 0, 0, 0, (said >>> 24) & 0xff, (said >>> 16) & 0xff, (said >>> 8) & 0xff, said & 0xff);
  if (!masked) return Buffer.concat([Buffer.from(head), data]);
  head[1] = (head[1] ?? 0) | 0x80;
  const mask = Buffer.from([1, 2, 3, 4]);
  return Buffer.concat([Buffer.from(head), mask, data.map((byte, at) => byte ^ (mask[at % 4] as number))]);
}

/** A frame from the daemon. */
export interface Frame {
  readonly type: string;
  readonly id?: string | number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly [field: string]: unknown;
}

/** A connection, with all frames received so far. */
export interface Wire {
  readonly frames: Frame[];
  send(frame: object | string): void;
  /** The first matching frame that was not taken yet. */
  take(fits: (frame: Frame) => boolean): Promise<Frame>;
  /** Sends a frame with an id and waits for the frame with the same id. */
  ask(frame: { type: string; [field: string]: unknown }): Promise<Frame>;
  readonly closed: Promise<{ code?: number; reason?: string }>;
  pause(): void;
  resume(): void;
  close(): void;
  /** Closes it at once, whatever waits. */
  terminate(): void;
}

/** Connects to the Unix socket. Sends hello if there is a token. */
export async function openUnix(path: string, token?: string): Promise<Wire> {
  const socket = createConnection(path);
  socket.on('error', () => {});
  let pieces: string[] = [];
  const wire = frameBox((text) => socket.write(`${text}\n`));
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const [first = '', ...others] = chunk.split('\n');
    pieces.push(first);
    for (const other of others) {
      wire.receive(pieces.join(''));
      pieces = [other];
    }
  });
  socket.once('close', () => wire.end({}));
  onTestFinished(() => void socket.destroy());
  if (token !== undefined) {
    wire.send({ type: 'hello', id: 'hello', token });
    await wire.take(({ id }) => id === 'hello');
  }
  const terminate = (): void => void socket.destroy();
  return { ...wire, pause: () => socket.pause(), resume: () => socket.resume(), close: terminate, terminate };
}

/** Connects a WebSocket; rejects with the status of an HTTP refusal. */
export async function openWebSocket(url: string, headers: Record<string, string>): Promise<Wire> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers, perMessageDeflate: false });
  const wire = frameBox((text) => socket.send(text));
  socket.on('message', (data: Buffer) => wire.receive(data.toString()));
  socket.on('close', (code, reason) => wire.end({ code, reason: reason.toString() }));
  onTestFinished(() => socket.terminate());
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (_, { statusCode }) => reject(new Error(`refused with ${statusCode}`)));
    socket.once('error', reject);
  });
  return {
    ...wire,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.close(),
    terminate: () => socket.terminate(),
  };
}

interface Waiter {
  readonly fits: (frame: Frame) => boolean;
  readonly resolve: (frame: Frame) => void;
  readonly reject: (error: Error) => void;
}

/** Keeps frames until a test takes them. */
function frameBox(write: (text: string) => void) {
  const frames: Frame[] = [];
  const untaken = new Set<Frame>();
  const waiters = new Set<Waiter>();
  const closed = Promise.withResolvers<{ code?: number; reason?: string }>();
  let isOver = false;
  let nextId = 1;

  const box = {
    frames,
    closed: closed.promise,
    receive(text: string) {
      const frame = JSON.parse(text) as Frame;
      frames.push(frame);
      for (const waiter of waiters) {
        if (!waiter.fits(frame)) continue;
        waiters.delete(waiter);
        return waiter.resolve(frame);
      }
      return void untaken.add(frame);
    },
    end(why: { code?: number; reason?: string }) {
      isOver = true;
      closed.resolve(why);
      for (const { reject } of waiters) reject(gone());
    },
    send: (frame: object | string) => write(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    async take(fits: (frame: Frame) => boolean): Promise<Frame> {
      for (const frame of untaken) {
        if (!fits(frame)) continue;
        untaken.delete(frame);
        return frame;
      }
      if (isOver) throw gone();
      return new Promise((resolve, reject) => waiters.add({ fits, resolve, reject }));
    },
    async ask(frame: { type: string; [field: string]: unknown }): Promise<Frame> {
      const id = frame['id'] ?? `ask ${nextId++}`;
      box.send({ ...frame, id });
      return box.take((answer) => answer.id === id && answer.type !== 'progress');
    },
  };
  return box;

  function gone(): Error {
    return new Error('The connection is closed and no such frame came');
  }
}

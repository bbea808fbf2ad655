import { isUtf8 } from 'node:buffer';
import { chmod, lstat, unlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { dirname } from 'node:path';
import { TeamError } from '../core/errors.ts';
import { splitLines } from '../core/lines.ts';
import type { HelloFrame } from '../operations/frames.ts';
import { openDoor } from './door.ts';
import type { Door } from './door.ts';
import type { Hub } from './hub.ts';
import type { Line } from './line.ts';
import { errorFrame } from './read-frame.ts';
import { openSession } from './session.ts';
import type { Client, Session } from './session.ts';
import { keyOf } from './share.ts';

/** A server that listens. */
export interface Listening {
  close(): Promise<void>;
}

/** A long write is split into pieces of this size, so that we see a slow client read. */
export const PIECE_BYTES = 256 * 1024;

/** How often the daemon checks that its socket file still exists. */
const LOOK_EVERY_MS = 1_000;

/** How long a connection may take for its last frame. */
const FAREWELL_MS = 5_000;

/**
 * Serves the clients of this machine: JSON lines on a Unix socket, in a directory that only its owner can enter. The
 * daemon holds the lock of the state directory, so an existing socket belongs to a daemon that has ended.
 */
export async function listenSocket(path: string, hub: Hub): Promise<Listening> {
  await checkDirectory(dirname(path));
  await removeStale(path);
  const door = openDoor(hub);
  const admit = (socket: Socket): void => {
    if (door.open(socket)) serve(hub, socket, door);
    else refuse(socket, new TeamError('limit', 'Too many connections'));
  };
  const onError = (error: unknown): void => hub.report(error, 'socket');
  let server = await open(path, admit, onError);
  let isClosing = false;
  let reopening: Promise<void> | undefined;
  const watch = setInterval(() => {
    reopening ??= reopen().finally(() => (reopening = undefined));
  }, LOOK_EVERY_MS).unref();

  /** A cleanup program may remove the socket file. Then no client could connect, and no other daemon could start. */
  async function reopen(): Promise<void> {
    try {
      if (await isThere(path)) return;
      // Closed first, because Node removes the path when a server closes. Open connections stay.
      server.close();
      if (isClosing) return;
      server = await open(path, admit, onError);
      onError(new TeamError('storage', `${path} was removed, and has been created again`));
    } catch (error) {
      onError(error);
    }
  }

  return {
    async close() {
      isClosing = true;
      clearInterval(watch);
      await reopening;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of door.sockets) socket.destroy();
      await closed;
    },
  };
}

async function open(path: string, admit: (socket: Socket) => void, onError: (error: unknown) => void): Promise<Server> {
  const server = createServer(admit);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new TeamError('storage', `Cannot listen on ${path} (${path.length} characters): ${error.message}`)),
    );
    server.listen(path, resolve);
  });
  server.on('error', onError);
  await chmod(path, 0o600);
  return server;
}

/** Also true if the whole directory is gone: then the daemon ends by itself. */
async function isThere(path: string): Promise<boolean> {
  const [socket, directory] = await Promise.all([path, dirname(path)].map((one) => lstat(one).catch(() => undefined)));
  return socket !== undefined || directory === undefined;
}

async function checkDirectory(directory: string): Promise<void> {
  const found = await lstat(directory);
  if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0) return;
  throw new TeamError('not_allowed', `${directory} must be a directory of yours that nobody else can enter: chmod 700`);
}

async function removeStale(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return;
  if (!found.isSocket()) throw new TeamError('exists', `${path} exists and is not a socket: move it away`);
  await unlink(path);
}

function serve(hub: Hub, socket: Socket, door: Door): void {
  const { limits } = hub;
  const leave = hub.count();
  let session: Session | undefined;
  let greeting = false;
  const early: string[] = [];
  const patience = setTimeout(
    () => refuse(socket, new TeamError('unauthenticated', 'No hello came')),
    limits.greetingMs,
  );
  const lines = splitLines(take, { maxBytes: limits.messageBytes, isUtf8 });

  // A client that disconnects in the middle of a write is not worth a report.
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    try {
      lines.push(chunk);
    } catch (error) {
      refuse(socket, hub.asTeamError(error));
    }
  });
  socket.once('close', () => {
    clearTimeout(patience);
    session?.gone();
    leave();
  });

  function take(text: string): void {
    if (session) session.receive(text);
    else if (text === '') return;
    else if (greeting) early.push(text);
    else {
      greeting = true;
      // Before the credential is checked, only what the client has already sent is kept.
      socket.pause();
      void greet(text);
    }
  }

  async function greet(text: string): Promise<void> {
    const hello = readHello(text, limits.strangerBytes);
    const client = await clientOf(hello).catch((error: unknown) => hub.asTeamError(error));
    clearTimeout(patience);
    if (socket.destroyed) return;
    if (client instanceof TeamError) {
      if (client.code === 'unauthenticated') hub.counters.rejected++;
      return refuse(socket, client, hello?.id);
    }
    const { since: _since, ...who } = client.caller;
    socket.write(`${JSON.stringify({ type: 'welcome', id: hello?.id, ...who })}\n`);
    const onCut = (): void => {
      door.cut(socket);
      hub.lingering.keep(socket);
    };
    session = openSession(hub, client, lineOn(socket, onCut));
    socket.resume();
    for (const frame of early) session.receive(frame);
  }

  async function clientOf(hello: HelloFrame | undefined): Promise<Client> {
    if (!hello) throw new TeamError('unauthenticated', 'The first frame must be hello with a token');
    const caller = await hub.credentials.verify(hello.token);
    if (caller) return { caller, share: door.enter(socket, caller, keyOf(hello.token)) };
    throw new TeamError(
      'unauthenticated',
      'This is not a valid token: it may have ended with its member, its team or "troupe token rotate"',
    );
  }
}

function readHello(text: string, mostLength: number): HelloFrame | undefined {
  if (text.length > mostLength) return undefined;
  try {
    const frame = JSON.parse(text) as Partial<HelloFrame>;
    if (frame.type !== 'hello' || typeof frame.token !== 'string') return undefined;
    return frame as HelloFrame;
  } catch {
    return undefined;
  }
}

/** Sends the error and closes. */
function refuse(socket: Socket, error: TeamError, id?: HelloFrame['id']): void {
  socket.removeAllListeners('data');
  socket.on('error', () => {});
  socket.end(`${errorFrame(id, error)}\n`);
  socket.resume();
  setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
}

/** What a session writes to a client of the socket, and how it ends the connection. */
export function lineOn(socket: Socket, onCut: () => void): Line {
  return {
    write(frames, moved, done) {
      const text = `${frames.join('\n')}\n`;
      if (text.length <= PIECE_BYTES) return void socket.write(text, done);
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        socket.write(bytes.subarray(at, at + PIECE_BYTES), at + PIECE_BYTES < bytes.length ? moved : done);
      }
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close() {
      socket.removeAllListeners('data');
      socket.end();
      socket.resume();
      setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
    },
    cut(_ending, lastFrame) {
      // Further input is read and dropped. Without reading, the client's end would go unnoticed.
      socket.removeAllListeners('data');
      socket.end(`${lastFrame}\n`);
      socket.resume();
      onCut();
    },
  };
}

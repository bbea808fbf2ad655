import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { refusal } from './guard.ts';
import type { Hub } from './hub.ts';
import { refuse } from './websocket.ts';

interface Known {
  isTrusted: boolean;
  /** How much the kernel had taken, and since when that has not grown. */
  flushed: number;
  since: number;
}

/**
 * Keeps TCP connections within their limit. Anybody on the machine can connect: when there are too many, those go first
 * that have shown no credential, the oldest before the others, so that strangers cannot keep clients out. Answers that
 * nobody fetches go too.
 */
export function limitConnections(server: Server, hub: Hub) {
  const { limits } = hub;
  const sockets = new Map<Socket, Known>();
  server.on('connection', (socket: Socket) => {
    const leave = hub.count();
    socket.once('close', () => {
      sockets.delete(socket);
      leave();
    });
    if (sockets.size >= limits.connections && !makeRoom()) {
      return refuse(socket, refusal('overloaded', 'There are too many connections: try again in a moment'));
    }
    sockets.set(socket, { isTrusted: false, flushed: 0, since: performance.now() });
  });
  const checking = setInterval(() => {
    const now = performance.now();
    for (const [socket, known] of sockets) if (isStuck(socket, known, now)) socket.destroy();
  }, 1_000);
  checking.unref();

  return {
    /** The connection has shown a right credential. */
    trust(socket: Socket): void {
      const known = sockets.get(socket);
      if (known) known.isTrusted = true;
    },
    stop(): void {
      clearInterval(checking);
    },
  };

  function makeRoom(): boolean {
    for (const [socket, { isTrusted }] of sockets) {
      if (isTrusted) continue;
      sockets.delete(socket);
      refuse(socket, refusal('overloaded', 'There are too many connections: try again in a moment'));
      return true;
    }
    return false;
  }

  function isStuck(socket: Socket, known: Known, now: number): boolean {
    const flushed = socket.bytesWritten - socket.writableLength;
    if (socket.writableLength === 0 || flushed !== known.flushed) Object.assign(known, { flushed, since: now });
    return now - known.since > limits.requestMs;
  }
}

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as SecureServer } from 'node:tls';
import { refusal } from './guard.ts';
import type { Hub } from './hub.ts';
import { refuse } from './websocket.ts';

interface Known {
  readonly socket: Socket;
  isTrusted: boolean;
  /** It only waits for its client to read its last words. */
  isCut: boolean;
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
  /** By the client's end: under TLS a request comes on another object than the connection. */
  const open = new Map<string, Known>();
  server.on('connection', (socket: Socket) => {
    const end = endOf(socket);
    const leave = hub.count();
    socket.once('close', () => {
      if (open.get(end)?.socket === socket) open.delete(end);
      leave();
    });
    if (open.size >= limits.connections && !makeRoom()) return turnAway(socket);
    return void open.set(end, { socket, isTrusted: false, isCut: false, flushed: 0, since: performance.now() });
  });
  const checking = setInterval(() => {
    const now = performance.now();
    for (const known of open.values()) if (!known.isCut && isStuck(known, now)) known.socket.destroy();
  }, 1_000);
  checking.unref();

  return {
    /** The connection has shown a right credential. */
    trust(socket: Socket): void {
      const known = open.get(endOf(socket));
      if (known) known.isTrusted = true;
    },
    /** The client was cut off: whoever comes goes before it. */
    cut(socket: Socket): void {
      const known = open.get(endOf(socket));
      if (known) Object.assign(known, { isTrusted: false, isCut: true });
    },
    stop(): void {
      clearInterval(checking);
    },
  };

  function makeRoom(): boolean {
    for (const [end, { socket, isTrusted, isCut }] of open) {
      if (isTrusted) continue;
      open.delete(end);
      if (isCut) socket.destroy();
      else turnAway(socket);
      return true;
    }
    return false;
  }

  function turnAway(socket: Socket): void {
    // Under TLS there is nobody yet who would understand.
    if (server instanceof SecureServer) socket.destroy();
    else refuse(socket, refusal('overloaded', 'There are too many connections: try again in a moment'));
  }

  function isStuck(known: Known, now: number): boolean {
    const { socket } = known;
    const flushed = socket.bytesWritten - socket.writableLength;
    if (socket.writableLength === 0 || flushed !== known.flushed) Object.assign(known, { flushed, since: now });
    return now - known.since > limits.requestMs;
  }
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

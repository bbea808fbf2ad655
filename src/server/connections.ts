import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as SecureServer } from 'node:tls';
import { refusal } from './guard.ts';
import type { Admitted, Refusal } from './guard.ts';
import type { Hub } from './hub.ts';
import { LOOK_MS } from './limits.ts';
import { placesOfOthers, TOO_MANY_OF_ONE } from './share.ts';
import type { Place } from './share.ts';
import { refuse } from './websocket.ts';

interface Known {
  readonly socket: Socket;
  /** Requests with a valid credential that are under way. On a person's connection the count never falls. */
  uses: number;
  /** It was cut off, and stays only until its client has read the last frame. */
  isCut: boolean;
  /** How many bytes the kernel had taken at the last check, and for how many checks that has not grown. */
  flushed: number;
  looks: number;
}

/**
 * Limits the number of TCP connections. Any user of the machine can connect. When there are too many, connections
 * without an authenticated request under way are closed, the oldest first, so strangers cannot keep clients out. An
 * eighth of the places is reserved for people, so members cannot keep them out. A connection whose client does not read
 * its answers is closed too.
 */
export function limitConnections(server: Server, hub: Hub) {
  const { limits } = hub;
  /** By the client's address and port: under TLS, requests and connections have different socket objects. */
  const open = new Map<string, Known>();
  const others = placesOfOthers(limits);
  server.on('connection', (socket: Socket) => {
    const end = endOf(socket);
    const leave = hub.count();
    socket.once('close', () => {
      if (open.get(end)?.socket === socket) open.delete(end);
      leave();
    });
    if (open.size >= limits.connections && !makeRoom()) return turnAway(socket);
    return void open.set(end, { socket, uses: 0, isCut: false, flushed: 0, looks: 0 });
  });
  const checking = setInterval(() => {
    for (const known of open.values()) if (!known.isCut && isStuck(known)) known.socket.destroy();
  }, LOOK_MS);
  checking.unref();

  return {
    enter,
    /** The client was cut off: any new connection may take its place. */
    cut(socket: Socket): void {
      const known = open.get(endOf(socket));
      if (known) Object.assign(known, { uses: 0, isCut: true });
    },
    stop(): void {
      clearInterval(checking);
    },
  };

  function enter(socket: Socket, { caller, key }: Admitted): Place | Refusal {
    const place = hub.takeShare(caller, key);
    if (!place) return { ...refusal('limit', TOO_MANY_OF_ONE), retryMs: RETRY_MS };
    const { isPersons } = place.share;
    const release = isPersons ? undefined : others.tryTake();
    if (!isPersons && !release) {
      place.leave();
      return { ...refusal('overloaded', TOO_MANY), retryMs: RETRY_MS };
    }
    const known = open.get(endOf(socket));
    if (known) known.uses++;
    let isOver = false;
    return {
      share: place.share,
      leave() {
        if (isOver) return;
        isOver = true;
        place.leave();
        release?.();
        if (!isPersons && known && known.uses > 0) known.uses--;
      },
    };
  }

  function makeRoom(): boolean {
    for (const [end, { socket, uses, isCut }] of open) {
      if (uses > 0) continue;
      open.delete(end);
      if (isCut) socket.destroy();
      else turnAway(socket);
      return true;
    }
    return false;
  }

  function turnAway(socket: Socket): void {
    // Before the TLS handshake the client could not read a refusal.
    if (server instanceof SecureServer) socket.destroy();
    else refuse(socket, refusal('overloaded', TOO_MANY));
  }

  /** Counts checks instead of time: see `isStalled` in `outbox.ts`. */
  function isStuck(known: Known): boolean {
    const { socket } = known;
    const flushed = socket.bytesWritten - socket.writableLength;
    if (socket.writableLength === 0 || flushed !== known.flushed) Object.assign(known, { flushed, looks: 0 });
    else known.looks++;
    return known.looks * LOOK_MS > limits.requestMs;
  }
}

const TOO_MANY = 'There are too many connections: try again in a moment';
const RETRY_MS = 1_000;

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as SecureServer } from 'node:tls';
import { Semaphore } from '../runtime/semaphore.ts';
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

/**
 * Limits how many HTTP requests a connection may pipeline: Node reads on however many wait, and even strangers can send
 * some. One request too many ends the connection; false means that the request must be ignored.
 */
export function limitUnanswered(most: number): (socket: Socket, response: ServerResponse) => boolean {
  const unanswered = new WeakMap<Socket, Semaphore>();
  return (socket, response) => {
    if (socket.destroyed) return false;
    const places = unanswered.get(socket) ?? new Semaphore(most);
    unanswered.set(socket, places);
    const release = places.tryTake();
    if (release) response.once('close', release);
    else endReading(socket);
    return release !== undefined;
  };
}

/**
 * Ends a connection in the middle of a chunk. A chunk can hold 3,600 requests, and Node makes objects of all of them
 * even after the connection is closed. That takes 60 ms; this takes less than one. Node has no public way to prevent
 * it. If this way stops working, the connection still ends.
 */
function endReading(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming?: () => number } | null };
  // The parser takes 2 as an upgrade to another protocol, and does not read what follows.
  if (parser?.onIncoming) parser.onIncoming = () => 2;
  socket.destroy();
}

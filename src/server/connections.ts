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
  /** Requests with a right credential that are under way; a person's connection keeps its place after them. */
  uses: number;
  /** It only waits for its client to read its last words. */
  isCut: boolean;
  /** How much the kernel had taken, and at how many looks that has not grown. */
  flushed: number;
  looks: number;
}

/**
 * Keeps TCP connections within their limit. Anybody on the machine can connect: when there are too many, those go first
 * on which nobody with a right credential has anything under way, the oldest before the others, so that strangers cannot
 * keep clients out. Nor can members keep people out, whatever they have under way: some places are not for them. Answers
 * that nobody fetches go too.
 */
export function limitConnections(server: Server, hub: Hub) {
  const { limits } = hub;
  /** By the client's end: under TLS a request comes on another object than the connection. */
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
    /** The client was cut off: whoever comes goes before it. */
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
    // Under TLS there is nobody yet who would understand.
    if (server instanceof SecureServer) socket.destroy();
    else refuse(socket, refusal('overloaded', TOO_MANY));
  }

  /** Looks are counted, not the time: see `isStalled` of the outbox. */
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

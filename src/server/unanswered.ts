import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Semaphore } from './semaphore.ts';

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

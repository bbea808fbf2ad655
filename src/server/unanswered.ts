import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Semaphore } from './semaphore.ts';

/**
 * Keeps those requests few that a connection sends ahead of their answers: Node reads on, however many wait, and anybody
 * can send some. The one that is too many ends its connection; false says that nothing is to be done for a request.
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
 * Ends a connection in the middle of what was read from it. That can be 3,600 requests, and Node makes objects of all of
 * them also when there is nobody left to answer: 60 ms, where this takes less than one. There is no proper way to tell
 * it not to; should this one not work any more, the connection is ended all the same.
 */
function endReading(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming?: () => number } | null };
  // As for a request to go on in another protocol: what follows it is not looked at.
  if (parser?.onIncoming) parser.onIncoming = () => 2;
  socket.destroy();
}

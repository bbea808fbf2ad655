import type { Socket } from 'node:net';
import { TeamError } from '../core/errors.ts';
import type { Caller } from '../operations/caller.ts';
import type { Hub } from './hub.ts';
import { placesOfOthers, TOO_MANY_OF_ONE } from './share.ts';
import type { Share } from './share.ts';

/** The connections over the Unix socket. */
export type Door = ReturnType<typeof openDoor>;

/**
 * Limits the number of connections of a socket. When there are too many, the oldest connection without a valid
 * credential is closed first. An eighth of the places is reserved for people, who must be able to look and to stop
 * everything whatever members do.
 */
export function openDoor(hub: Hub) {
  const { limits } = hub;
  const sockets = new Set<Socket>();
  const strangers = new Set<Socket>();
  const leaves = new Map<Socket, () => void>();
  const others = placesOfOthers(limits);

  return {
    /** All open connections. */
    sockets: sockets as ReadonlySet<Socket>,

    /** Adds a connection that has shown no credential yet; false if there is no room. */
    open(socket: Socket): boolean {
      if (sockets.size >= limits.connections) makeRoom();
      const hasRoom = sockets.size < limits.connections;
      sockets.add(socket);
      strangers.add(socket);
      socket.once('close', () => forget(socket));
      return hasRoom;
    },

    /** The connection has shown a valid credential. Takes its place, or throws an error that says why there is none. */
    enter(socket: Socket, caller: Caller, key: string): Share {
      const place = hub.takeShare(caller, key);
      if (!place) throw new TeamError('limit', TOO_MANY_OF_ONE);
      const release = place.share.isPersons ? undefined : others.tryTake();
      if (!place.share.isPersons && !release) {
        place.leave();
        throw new TeamError('limit', 'Too many connections');
      }
      strangers.delete(socket);
      const leave = (): void => {
        if (!leaves.delete(socket)) return;
        place.leave();
        release?.();
      };
      leaves.set(socket, leave);
      // The client may have disconnected while its credential was checked.
      if (socket.closed) leave();
      else socket.once('close', leave);
      return place.share;
    },

    /** The connection was cut off, and keeps its place only until another one needs it. */
    cut(socket: Socket): void {
      leaves.get(socket)?.();
    },
  };

  function makeRoom(): void {
    // Connections that were cut off and have not read their last frame go first.
    if (hub.lingering.giveUp((one) => sockets.delete(one as Socket))) return;
    const [oldest] = strangers;
    if (!oldest) return;
    forget(oldest);
    oldest.destroy();
  }

  function forget(socket: Socket): void {
    sockets.delete(socket);
    strangers.delete(socket);
  }
}

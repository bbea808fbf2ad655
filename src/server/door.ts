import type { Socket } from 'node:net';
import { TeamError } from '../core/errors.ts';
import type { Caller } from '../operations/caller.ts';
import type { Hub } from './hub.ts';
import { placesOfOthers, TOO_MANY_OF_ONE } from './share.ts';
import type { Share } from './share.ts';

/** Who is in over the Unix socket. */
export type Door = ReturnType<typeof openDoor>;

/**
 * Keeps the connections of a socket within their limit. When there are too many, those go first that have shown no
 * credential, or were refused, the oldest before the others; and some places are for people alone, who must be able to look
 * and to stop it all whatever members do.
 */
export function openDoor(hub: Hub) {
  const { limits } = hub;
  const sockets = new Set<Socket>();
  const strangers = new Set<Socket>();
  const leaves = new Map<Socket, () => void>();
  const others = placesOfOthers(limits);

  return {
    /** Everybody who is connected. */
    sockets: sockets as ReadonlySet<Socket>,

    /** Takes one in who may be anybody; false if there is no room. */
    open(socket: Socket): boolean {
      if (sockets.size >= limits.connections) makeRoom();
      const hasRoom = sockets.size < limits.connections;
      sockets.add(socket);
      strangers.add(socket);
      socket.once('close', () => forget(socket));
      return hasRoom;
    },

    /** It has shown a right credential: that has a place for it, or an error says why not. */
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
      // It may have gone while its credential was looked at.
      if (socket.closed) leave();
      else socket.once('close', leave);
      return place.share;
    },

    /** It was cut off, and has its place only as long as nobody else wants it. */
    cut(socket: Socket): void {
      leaves.get(socket)?.();
    },
  };

  function makeRoom(): void {
    // Who only listens to its last words goes first.
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

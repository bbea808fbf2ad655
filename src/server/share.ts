import { createHash } from 'node:crypto';
import type { Caller } from '../operations/caller.ts';
import type { Limits } from './limits.ts';

/**
 * What all connections of one credential have together, whatever carries them: else whoever wants more than its part would
 * open more of them. Each connection of a person has a share of its own: it is the person's machine.
 */
export interface Share {
  readonly isPersons: boolean;
  /** Connections that are open, and requests under way. */
  connections: number;
  /** Calls that wait for something to happen. */
  waitingCalls: number;
  /** Long answers that are made, or not yet fetched, and the ways to begin those that wait for it. */
  longAnswers: number;
  readonly unmade: (() => void)[];
  /** Whether it has had its part of this turn of the event loop: what more it asks for is begun in the next. */
  readonly isSpent: boolean;
  /** Counts a frame that is about to be dealt with. */
  spend(): void;
  /** Calls back, once, in a later turn with some of the part left. */
  whenRenewed(goOn: () => void): void;
  /** Counts one connection, or request, no more. */
  leave(): void;
}

/** Under which a credential is counted, on whichever way it is shown. */
export function keyOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** How many connections of one kind are for all credentials but people's. */
export function placesOfOthers({ connections }: Limits): number {
  return connections - Math.ceil(connections / 8);
}

/** Takes a place among what the credential has open; undefined if it has too many. */
export type TakeShare = (caller: Caller, key: string) => Share | undefined;

/** The shares of all who are connected. */
export function openShares(limits: Limits): TakeShare {
  const shares = new Map<string, Share>();
  return (caller, key) => {
    const isPersons = caller.scope === 'admin';
    const share = shares.get(key) ?? openShare(isPersons ? Infinity : limits.callsPerTurn, isPersons, forget);
    if (share.connections >= limits.connectionsPerToken) return undefined;
    if (!isPersons) shares.set(key, share);
    share.connections++;
    return share;

    function forget(): void {
      shares.delete(key);
    }
  };
}

function openShare(perTurn: number, isPersons: boolean, onUnused: () => void): Share {
  const waiting = new Set<() => void>();
  let spent = 0;

  const share: Share = {
    isPersons,
    connections: 0,
    waitingCalls: 0,
    longAnswers: 0,
    unmade: [],
    get isSpent() {
      return spent >= perTurn;
    },
    spend() {
      if (isPersons) return;
      if (spent++ === 0) setImmediate(renew);
    },
    whenRenewed(goOn) {
      waiting.add(goOn);
    },
    leave() {
      if (--share.connections === 0) onUnused();
    },
  };
  return share;

  function renew(): void {
    spent = 0;
    // Who has had the whole part of this turn waits again, and behind the others.
    for (const goOn of waiting) {
      if (spent >= perTurn) return;
      waiting.delete(goOn);
      goOn();
    }
  }
}

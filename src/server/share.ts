import { createHash } from 'node:crypto';
import { TeamError } from '../core/errors.ts';
import type { Caller } from '../operations/caller.ts';
import type { Limits } from './limits.ts';

/**
 * What all connections of one credential have together, whatever carries them: else whoever wants more than its part would
 * open more of them. Each connection of a person has a share of its own: it is the person's machine. Only those that stay
 * open for a page are counted, as a page that is broken may open one after the other.
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
  /** Counts a frame of that length that is about to be dealt with; a long one counts as many. */
  spend(length: number): void;
  /** Calls back, once, in a later turn with some of the part left. */
  whenRenewed(goOn: () => void): void;
  /** The connection is a WebSocket or an event stream; false if the credential has too many of those. */
  stay(): boolean;
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

/** Counts a call that waits for something to happen; refuses one too many. Returns the way to count it no more. */
export function beginWaiting(share: Share, limits: Limits): () => void {
  if (share.waitingCalls >= limits.waitingCalls) throw tooManyWait(share);
  let isOver = false;
  share.waitingCalls++;
  return () => {
    if (!isOver) share.waitingCalls--;
    isOver = true;
  };
}

/** Why a call that would wait is refused. */
export function tooManyWait({ waitingCalls }: Share): TeamError {
  return new TeamError('limit', `${waitingCalls} calls wait already: cancel one first`);
}

/** How much of a frame takes as long to read as a short one takes to be dealt with; of 1 MiB there is one in a turn. */
const LENGTH_OF_ONE = 32 * 1024;

/** Why a credential gets no other connection. */
export const TOO_MANY_OF_ONE = 'Too many connections with this credential';

/** Takes a place among what the credential has open; undefined if it has too many. */
export type TakeShare = (caller: Caller, key: string) => Share | undefined;

/** The shares of all who are connected. */
export function openShares(limits: Limits): TakeShare {
  const shares = new Map<string, Share>();
  /** Connections of people that stay. */
  const staying = new Map<string, number>();
  return (caller, key) => {
    if (caller.scope === 'admin') return take(openShare(Infinity, personsOwn(key)));
    const share = shares.get(key) ?? openShare(limits.callsPerTurn, { forget: () => shares.delete(key) });
    if (share.connections >= limits.connectionsPerToken) return undefined;
    shares.set(key, share);
    return take(share);
  };

  function personsOwn(key: string): Counted {
    let stays = false;
    return {
      stay() {
        const count = staying.get(key) ?? 0;
        if (count >= limits.connectionsPerToken) return false;
        staying.set(key, count + 1);
        return (stays = true);
      },
      forget() {
        const left = (staying.get(key) ?? 0) - Number(stays);
        if (left > 0) staying.set(key, left);
        else staying.delete(key);
      },
    };
  }
}

function take(share: Share): Share {
  share.connections++;
  return share;
}

/** How a share is counted: one of a person among those that stay, and any of them until it is used no more. */
interface Counted {
  readonly stay?: () => boolean;
  readonly forget: () => void;
}

function openShare(perTurn: number, { stay, forget }: Counted): Share {
  const waiting = new Set<() => void>();
  const isPersons = stay !== undefined;
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
    spend(length) {
      if (isPersons) return;
      if (spent === 0) setImmediate(renew);
      spent += 1 + Math.floor(length / LENGTH_OF_ONE);
    },
    whenRenewed(goOn) {
      waiting.add(goOn);
    },
    // Every connection of a member was counted when it came.
    stay: stay ?? (() => true),
    leave() {
      if (--share.connections === 0) forget();
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

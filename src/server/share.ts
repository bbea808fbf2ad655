import { createHash } from 'node:crypto';
import { TeamError } from '../core/errors.ts';
import type { Caller } from '../operations/caller.ts';
import { Semaphore } from '../runtime/semaphore.ts';
import type { Release } from '../runtime/semaphore.ts';
import type { Limits } from './limits.ts';

/**
 * What all connections of one credential may use together, over every protocol: opening more connections gives no more.
 * Each connection of a person has its own share, because the machine is the person's. Of a person's connections only
 * those that stay open are limited, because a broken page may open one after the other.
 */
export interface Share {
  readonly isPersons: boolean;
  /** Calls that wait for something to happen. */
  readonly waitingCalls: Semaphore;
  /** Long answers, from the moment they are made until the client has read them. */
  readonly longAnswers: Semaphore;
  /** Whether the credential has used up its part of this turn of the event loop. The next turn renews it. */
  readonly isSpent: boolean;
  /** Counts a frame of that length before it is handled. A long frame counts as several. */
  spend(length: number): void;
  /** Calls back once, in a later turn that has some of the part left. */
  whenRenewed(goOn: () => void): void;
  /** The connection is a WebSocket or an event stream; false if the credential has too many of those. */
  stay(): boolean;
}

/** The place of one connection or request. */
export interface Place {
  readonly share: Share;
  /** Gives it back. A second call does nothing. */
  readonly leave: () => void;
}

/** Takes a place among what the credential has open; undefined if it has too many. */
export type TakeShare = (caller: Caller, key: string) => Place | undefined;

/** The key under which a credential is counted, over every protocol. */
export function keyOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** The places for members' connections of one kind. People must always be able to look and to stop everything. */
export function placesOfOthers({ connections }: Limits): Semaphore {
  return new Semaphore(connections - Math.ceil(connections / 8));
}

/**
 * Counts a call that waits for something to happen. Returns a function that ends the counting; throws if too many wait.
 */
export function beginWaiting(share: Share): Release {
  const release = share.waitingCalls.tryTake();
  if (!release) throw tooManyWait(share);
  return release;
}

/** Why a call that would wait is refused. */
export function tooManyWait({ waitingCalls }: Share): TeamError {
  return new TeamError('limit', `${waitingCalls.taken} calls already wait: cancel one first`);
}

/**
 * Resolves when a credential may make a long answer. The result must be called when the client has read it or is gone.
 */
export type TakeLongAnswer = (share: Share) => Promise<Release>;

/**
 * Limits the long answers: each takes megabytes from when it is made until the client has read it. A person waits for
 * nobody else's.
 */
export function openLongAnswers({ longAnswersOfAll }: Limits): TakeLongAnswer {
  const ofOthers = new Semaphore(longAnswersOfAll);
  return async ({ isPersons, longAnswers }) => {
    const own = await longAnswers.take();
    const common = isPersons ? undefined : await ofOthers.take();
    return () => {
      own();
      common?.();
    };
  };
}

/** A frame of this length takes as long to read as a short one takes to handle. So a turn reads one frame of 1 MiB. */
const LENGTH_OF_ONE = 32 * 1024;

/** Why a credential gets no other connection. */
export const TOO_MANY_OF_ONE = 'Too many connections with this credential';

/** Opens the shares of all credentials. */
export function openShares(limits: Limits): TakeShare {
  const members = new Map<string, { readonly share: Share; readonly connections: Semaphore }>();
  /** By credential: the connections of people that stay open. */
  const staying = new Map<string, Semaphore>();
  return (caller, key) => (caller.scope === 'admin' ? takePersons(key) : takeMembers(key));

  function takeMembers(key: string): Place | undefined {
    const known = members.get(key) ?? {
      share: openShare(limits),
      connections: new Semaphore(limits.connectionsPerToken),
    };
    const release = known.connections.tryTake();
    if (!release) return undefined;
    members.set(key, known);
    return {
      share: known.share,
      leave() {
        release();
        if (known.connections.taken === 0 && members.get(key) === known) members.delete(key);
      },
    };
  }

  function takePersons(key: string): Place {
    let release: Release | undefined;
    const stay = (): boolean => {
      const places = staying.get(key) ?? new Semaphore(limits.connectionsPerToken);
      release = places.tryTake();
      if (release) staying.set(key, places);
      return release !== undefined;
    };
    return {
      share: openShare(limits, stay),
      leave() {
        release?.();
        if (staying.get(key)?.taken === 0) staying.delete(key);
      },
    };
  }
}

/** A share. `stay` is given for a person's connection only. */
function openShare(limits: Limits, stay?: () => boolean): Share {
  const isPersons = stay !== undefined;
  const perTurn = isPersons ? Infinity : limits.callsPerTurn;
  const waiting = new Set<() => void>();
  let spent = 0;

  return {
    isPersons,
    waitingCalls: new Semaphore(limits.waitingCalls),
    longAnswers: new Semaphore(limits.longAnswers),
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
  };

  function renew(): void {
    spent = 0;
    // When the part of this turn is used up, the others wait for the next turn.
    for (const goOn of waiting) {
      if (spent >= perTurn) return;
      waiting.delete(goOn);
      goOn();
    }
  }
}

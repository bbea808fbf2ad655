import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';

/** Who listens to the ledger of a team: a call that waits does, and stops when it ends. */
export interface WaitingRoom {
  /** Those who listen now are none who wait. */
  empty(): void;
  /** Resolves when so many more listen (Inbox has one, TaskClaim two), and each has looked in vain once. */
  has(listeners: number): Promise<void>;
}

/** Counts who listens from now on. */
export function openWaitingRoom(ledger: Ledger, teamId = 'demo'): WaitingRoom {
  const subscribe = ledger.subscribe.bind(ledger);
  let count = 0;
  let others = 0;
  ledger.subscribe = (...given) => {
    const stop = subscribe(...given);
    count++;
    let isOver = false;
    return () => {
      if (!isOver) count--;
      isOver = true;
      return stop();
    };
  };
  return {
    empty: () => void (others = count),
    async has(listeners) {
      await expect.poll(() => count - others).toBe(listeners);
      // A first look takes a turn of the ledger, as this does after it.
      for (let turn = 0; turn < 3; turn++) {
        await ledger.view(teamId, () => undefined);
        await nextTurn();
      }
      expect(count - others).toBe(listeners);
    },
  };
}

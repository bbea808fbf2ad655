import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';

/** The listeners of a team's ledger. A call that waits is one until it ends. */
export interface WaitingRoom {
  /** Does not count the present listeners. */
  empty(): void;
  /**
   * Resolves when there are `listeners` more (Inbox has one, TaskClaim two), and each has read once without success.
   */
  has(listeners: number): Promise<void>;
}

/** Counts new listeners from now on. */
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
      // A first read takes a turn of the ledger, and so does this one after it.
      for (let turn = 0; turn < 3; turn++) {
        await ledger.view(teamId, () => undefined);
        await nextTurn();
      }
      expect(count - others).toBe(listeners);
    },
  };
}

import * as fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { createState } from '../../src/core/state.ts';
import type { TeamRecord, TeamState } from '../../src/core/state.ts';
import type { Stored } from '../../src/journal/journal.ts';
import type { BatchListener } from '../../src/ledger/ledger.ts';
import { ADMIN } from '../../src/operations/caller.ts';
import { openFeeds } from '../../src/server/push.ts';
import { tries } from '../proof.ts';

/**
 * A ledger whose steps the test takes one by one: a batch is first in the journal, then in the state, then announced. A
 * real ledger has the same order, with readers in between.
 */
function slowLedger() {
  const journal: Stored[] = [];
  const state: TeamState = { ...createState('demo'), team: { id: 'demo', createdAt: new Date(0) } as TeamRecord };
  const listeners = new Set<BatchListener>();
  let told = 0;
  return {
    append: () => void journal.push({ seq: journal.length + 1, events: [] as TeamEvent[] }),
    tell({ quietly = false } = {}) {
      const batch = journal[told];
      if (!batch) return;
      told++;
      if (!quietly) for (const listener of listeners) listener('demo', batch, state);
    },
    get isBehind() {
      return told < journal.length;
    },
    get end() {
      return journal.length;
    },
    ledger: {
      subscribe(listener: BatchListener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      view: async <R>(_: string, pick: (state: TeamState, seq: number) => R): Promise<R> => pick(state, told),
      async *read(_: string, after: number): AsyncGenerator<Stored> {
        const end = journal.length;
        for (let at = after; at < end; at++) {
          await Promise.resolve();
          yield journal[at] as Stored;
        }
      },
    },
  };
}

/** A subscriber that takes nothing while it is busy. */
function subscriber() {
  const seqs: number[] = [];
  const errors: TeamError[] = [];
  let isBusy = false;
  let free = (): void => {};
  return {
    seqs,
    errors,
    caller: ADMIN,
    only: 'events' as const,
    deliver: (seq: number) => void seqs.push(seq),
    ended: (error: TeamError) => void errors.push(error),
    get isBusy() {
      return isBusy;
    },
    whenFree: () => (isBusy ? new Promise<void>((resolve) => (free = resolve)) : Promise.resolve()),
    setBusy(busy: boolean) {
      isBusy = busy;
      if (!busy) free();
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a subscriber gets every batch once and in order, for any order of steps', async () => {
  const action = fc.constantFrom('append', 'tell', 'tell nobody', 'busy', 'free', 'turn', 'microtask');
  await fc.assert(
    fc.asyncProperty(fc.nat(4), fc.array(action, { maxLength: 60, size: 'max' }), async (before, actions) => {
      const slow = slowLedger();
      for (let i = 0; i < before; i++) slow.append();
      for (let i = 0; i < before; i++) slow.tell();
      const feeds = openFeeds(slow.ledger, () => {});
      const heard = subscriber();
      const following = await feeds.subscribe({ teamId: 'demo', after: 0 }, heard);
      following.start();
      for (const one of actions) {
        if (one === 'append') slow.append();
        else if (one === 'tell') slow.tell();
        else if (one === 'tell nobody') slow.tell({ quietly: true });
        else if (one === 'busy') heard.setBusy(true);
        else if (one === 'free') heard.setBusy(false);
        else if (one === 'turn') await turn();
        else await Promise.resolve();
      }
      heard.setBusy(false);
      slow.append();
      while (slow.isBehind) slow.tell();
      for (let i = 0; i < 5; i++) await turn();
      expect(heard.seqs).toEqual(Array.from({ length: slow.end }, (_, at) => at + 1));
      expect(heard.errors).toEqual([]);
      feeds.close();
    }),
    tries(500),
  );
});

test('a batch that was not announced is found', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const slow = slowLedger();
  const feeds = openFeeds(slow.ledger, () => {});
  const heard = subscriber();
  (await feeds.subscribe({ teamId: 'demo', after: 0 }, heard)).start();
  slow.append();
  slow.tell({ quietly: true });
  await turn();
  expect(heard.seqs).toEqual([]);
  vi.advanceTimersByTime(5_000);
  await turn();
  expect(heard.seqs).toEqual([1]);
  feeds.close();
});

test("a subscriber gets an error if the journal's content is unreadable", async () => {
  for (const error of [new TeamError('corrupt', 'Batch 1 is torn'), new Error('detail')]) {
    const slow = slowLedger();
    slow.append();
    slow.tell();
    const ledger = {
      ...slow.ledger,
      read: () => {
        throw error;
      },
    };
    const feeds = openFeeds(ledger, () => {});
    const heard = subscriber();
    (await feeds.subscribe({ teamId: 'demo', after: 0 }, heard)).start();
    await turn();
    expect(heard.errors).toMatchObject([{ code: error instanceof TeamError ? 'corrupt' : 'internal' }]);
    expect(heard.errors[0]?.message).not.toContain('detail');
    expect(feeds.size).toBe(0);
    feeds.close();
  }
});

test('a subscriber resumes by itself when the journal is reachable again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const slow = slowLedger();
  slow.append();
  slow.tell();
  let isAway = true;
  const ledger = {
    ...slow.ledger,
    read: (...args: Parameters<typeof slow.ledger.read>) => {
      if (isAway) throw new TeamError('storage', 'No server answers');
      return slow.ledger.read(...args);
    },
  };
  const troubles: unknown[] = [];
  const feeds = openFeeds(ledger, (error) => troubles.push(error));
  const heard = subscriber();
  (await feeds.subscribe({ teamId: 'demo', after: 0 }, heard)).start();
  await turn();
  expect([heard.seqs, heard.errors, troubles.length]).toEqual([[], [], 1]);
  isAway = false;
  vi.advanceTimersByTime(1_000);
  await turn();
  expect([heard.seqs, heard.errors]).toEqual([[1], []]);
  feeds.close();
});

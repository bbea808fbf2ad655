import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SnapshotKeeper } from '../../src/ledger/snapshot-keeper.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

interface Options {
  readonly events: number;
  readonly size?: number;
  readonly every?: number | undefined;
}

/** A keeper whose snapshots take no time; ten events are worth one if nothing else is said. */
function openKeeper(options: Options) {
  const { events, size = 0, every } = { every: 10, ...options };
  const kept = { count: 0 };
  const keep = async (): Promise<void> => void kept.count++;
  const keeper = new SnapshotKeeper(events, { every, size: () => size, keep });
  return { keeper, kept };
}

const QUIET = 2_000;

describe('a snapshot is taken', () => {
  test.each([
    ['after as many events as it is worth', { events: 10 }, true],
    ['not before', { events: 9 }, false],
    ['after 10,000 events if nothing else is said', { every: undefined, events: 10_000 }, true],
    ['not before, either', { every: undefined, events: 9_999 }, false],
    ['after as many events as the state has parts, if these are more', { size: 20, events: 20 }, true],
    ['and not before these', { size: 20, events: 19 }, false],
  ])('%s', (_, options: Options, isTaken) => {
    const { keeper, kept } = openKeeper(options);
    keeper.plan();
    vi.advanceTimersByTime(QUIET - 1);
    expect(kept.count).toBe(0);
    vi.advanceTimersByTime(1);
    expect(kept.count).toBe(isTaken ? 1 : 0);
  });

  test('after events that come later, and then not until there are as many again', () => {
    const { keeper, kept } = openKeeper({ events: 5 });
    keeper.count(5);
    keeper.plan();
    vi.advanceTimersByTime(QUIET);
    expect(kept.count).toBe(1);
    keeper.count(9);
    keeper.plan();
    vi.advanceTimersByTime(QUIET);
    expect(kept.count).toBe(1);
    keeper.count(1);
    keeper.plan();
    vi.advanceTimersByTime(QUIET);
    expect(kept.count).toBe(2);
  });

  test('once, however often it is planned meanwhile', () => {
    const { keeper, kept } = openKeeper({ events: 10 });
    for (let i = 0; i < 3; i++) keeper.plan();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(QUIET);
    expect(kept.count).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('when it is quiet, or after ten times as many events', () => {
    const { keeper, kept } = openKeeper({ events: 10 });
    keeper.plan();
    for (const events of [1, 88]) {
      keeper.count(events);
      vi.advanceTimersByTime(QUIET);
      expect(kept.count).toBe(0);
    }
    keeper.count(1);
    vi.advanceTimersByTime(QUIET);
    expect(kept.count).toBe(1);
  });

  test('of a state that replaced another one after its own events', () => {
    const { keeper, kept } = openKeeper({ events: 10 });
    keeper.restart(9);
    keeper.plan();
    vi.advanceTimersByTime(QUIET);
    expect(kept.count).toBe(0);
    keeper.restart(10);
    keeper.plan();
    vi.advanceTimersByTime(QUIET);
    expect(kept.count).toBe(1);
  });
});

describe('at the end', () => {
  test.each([
    ['one is taken after a fifth of the events', { events: 2, snapshot: true, isTaken: true }],
    ['none is taken before', { events: 1, snapshot: true, isTaken: false }],
    ['none is taken if none is wanted', { events: 100, snapshot: false, isTaken: false }],
  ])('%s', async (_, { events, snapshot, isTaken }) => {
    const { keeper, kept } = openKeeper({ events });
    await keeper.close({ snapshot });
    expect(kept.count).toBe(isTaken ? 1 : 0);
  });

  test('none is taken later, and the one that is under way is waited for', async () => {
    const planned = openKeeper({ events: 10 });
    planned.keeper.plan();
    await planned.keeper.close({ snapshot: false });
    vi.advanceTimersByTime(QUIET);
    expect([planned.kept.count, vi.getTimerCount()]).toEqual([0, 0]);

    const saving = Promise.withResolvers<void>();
    const keeper = new SnapshotKeeper(10, { every: 10, size: () => 0, keep: () => saving.promise });
    keeper.plan();
    vi.advanceTimersByTime(QUIET);
    const order: string[] = [];
    const closing = keeper.close({ snapshot: true }).then(() => order.push('closed'));
    await new Promise((resolve) => void setImmediate(resolve));
    order.push('saved');
    saving.resolve();
    await closing;
    expect(order).toEqual(['saved', 'closed']);
  });
});

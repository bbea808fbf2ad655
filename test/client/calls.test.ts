import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Calls } from '../../src/client/calls.ts';

describe('the calls that wait for an answer', () => {
  it('are found by their number, taken once, and listed in the order of their numbers', () => {
    const calls = new Calls<{ id: number; name: string }>();
    // Ids far apart share a slot, as when a call waits for minutes while others come and go.
    for (const id of [1, 65, 2, 129, 3]) calls.add({ id, name: `call ${id}` });
    expect(calls.size).toBe(5);
    expect(calls.get(65)?.name).toBe('call 65');
    expect(calls.take(1)?.name).toBe('call 1');
    expect(calls.take(1)).toBeUndefined();
    expect(calls.get(129)?.name).toBe('call 129');
    expect(calls.list().map(({ id }) => id)).toEqual([2, 3, 65, 129]);
    expect(calls.size).toBe(4);
  });

  it("are not found by an id that is not a call's number", () => {
    const calls = new Calls<{ id: number }>();
    calls.add({ id: 1 });
    for (const id of [undefined, null, '1', 'subscribe demo', -1, 1.5, Number.NaN, Infinity, 2 ** 53, {}, [1]]) {
      expect(calls.get(id)).toBeUndefined();
      expect(calls.take(id)).toBeUndefined();
    }
    expect(calls.size).toBe(1);
  });

  it('leave nothing behind for a full garbage collection', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
    const calls = new Calls<{ id: number; answer: number[] }>();
    let id = 0;
    const turnOver = (count: number): void => {
      for (let i = 0; i < count; i++) {
        calls.add({ id: ++id, answer: Array.from({ length: 100 }, (_, n) => n) });
        calls.take(id - 16);
      }
    };
    const old = (): number => getHeapSpaceStatistics().find((one) => one.space_name === 'old_space')!.space_used_size;
    turnOver(1_000);
    // What exists now is in the old space from here on; 20,000 calls of 1 kB each follow.
    collect();
    const before = old();
    turnOver(20_000);
    collect({ type: 'minor' });
    expect(old() - before).toBeLessThan(4 * 1024 * 1024);
  });
});

import { describe, expect, test } from 'vitest';
import { keepRhythm } from '../../src/bridge/mirror/rhythm.ts';

describe('the rhythm of a mirror', () => {
  test('runs one pass at a time, even if a pass asks for another as it begins', async () => {
    let atOnce = 0;
    const seen: number[] = [];
    const rhythm = keepRhythm({
      async pass() {
        seen.push(++atOnce);
        // Reading files sends events at once, and their listener asks for a pass.
        if (seen.length === 1) rhythm.kick();
        // Much longer than the interval of passes.
        for (let i = 0; i < 10; i++) await new Promise((resolve) => setTimeout(resolve, 10));
        atOnce--;
      },
      failed: (error) => expect.unreachable(String(error)),
      times: { retry: 20 },
    });
    await rhythm.settled();
    await rhythm.settled();
    await rhythm.close();
    expect(seen.length).toBeGreaterThan(1);
    expect(new Set(seen)).toEqual(new Set([1]));
  });

  test('reports why a pass failed, and runs another', async () => {
    const told: unknown[] = [];
    let passes = 0;
    const rhythm = keepRhythm({
      pass: () => (++passes === 1 ? Promise.reject(new Error('no room')) : Promise.resolve()),
      failed: (error) => told.push(error),
      times: { retry: 20 },
    });
    rhythm.kick();
    await expect.poll(() => passes).toBe(2);
    await rhythm.close();
    expect(told).toEqual([new Error('no room')]);
  });
});

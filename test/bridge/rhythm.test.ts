import { describe, expect, test } from 'vitest';
import { keepRhythm } from '../../src/bridge/mirror/rhythm.ts';

describe('the rhythm of a mirror', () => {
  test('has no pass begin while another is under way, also when that asks for one as it begins', async () => {
    let atOnce = 0;
    const seen: number[] = [];
    const rhythm = keepRhythm({
      async pass() {
        seen.push(++atOnce);
        // A look at files tells of what it finds there and then, and whoever hears of it asks for a pass.
        if (seen.length === 1) rhythm.kick();
        // Much longer than the pace of passes.
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

  test('tells why a pass failed, and has another', async () => {
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

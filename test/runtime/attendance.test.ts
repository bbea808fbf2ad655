import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openAttendance } from '../../src/runtime/attendance.ts';

describe('attendance', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function open() {
    const rested: string[] = [];
    const failures: unknown[] = [];
    const attendance = openAttendance({
      rest: async (teamId) => {
        rested.push(teamId);
        if (teamId === 'closed') throw new Error('it is closed');
      },
      onError: (error) => failures.push(error),
    });
    return { attendance, rested, failures };
  }

  test('stops a team when its last client is gone and none comes back in time', () => {
    const { attendance, rested } = open();
    const [first, second] = [attendance.enter('demo', 1_000), attendance.enter('demo', 1_000)];
    first();
    first();
    vi.advanceTimersByTime(5_000);
    expect(rested).toEqual([]);
    second();
    vi.advanceTimersByTime(999);
    const third = attendance.enter('demo', 1_000);
    vi.advanceTimersByTime(5_000);
    expect(rested).toEqual([]);
    third();
    vi.advanceTimersByTime(1_000);
    expect(rested).toEqual(['demo']);
    vi.advanceTimersByTime(5_000);
    expect(rested).toEqual(['demo']);
  });

  test('keeps teams apart, reports failures, and stops nothing once it is closed', async () => {
    const { attendance, rested, failures } = open();
    attendance.enter('demo', 1_000);
    attendance.enter('closed', 10)();
    await vi.advanceTimersByTimeAsync(10);
    expect(rested).toEqual(['closed']);
    expect(failures).toEqual([new Error('it is closed')]);
    attendance.enter('other', 10)();
    attendance.close();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(rested).toEqual(['closed']);
  });
});

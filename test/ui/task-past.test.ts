import { expect, test } from 'vitest';
import type { Batch } from '../../src/client/replica.ts';
import { pastOf, workedOn } from '../../ui/data/task-past.ts';

const batch = (seq: number, event: object): Batch => ({ seq, events: [{ at: seq, by: 'ann', ...event }] }) as never;

test('the past of a task has the plans of its holder, and those of no one else', () => {
  const history = [
    batch(1, { type: 'task:created', taskId: '1' }),
    batch(2, { type: 'plan:submitted', memberId: 'ann', requestId: 'earlier' }),
    batch(3, { type: 'task:claimed', taskId: '1', memberId: 'ann' }),
    batch(4, { type: 'plan:submitted', memberId: 'ann', requestId: 'p' }),
    batch(5, { type: 'plan:submitted', memberId: 'bob', requestId: 'q' }),
    batch(6, { type: 'plan:approved', memberId: 'ann', requestId: 'p' }),
    batch(7, { type: 'usage:recorded', taskId: '1', memberId: 'ann' }),
    batch(8, { type: 'task:completed', taskId: '1', memberId: 'ann' }),
    batch(9, { type: 'plan:submitted', memberId: 'ann', requestId: 'later' }),
  ];
  expect(pastOf(history, '1').map(({ seq }) => seq)).toEqual([1, 3, 4, 6, 8]);
});

test('the time in which a person was asked is no time of work', () => {
  const task = { id: '1', assigneeId: 'ann', startedAt: new Date(1_000), completedAt: new Date(11_000) };
  const asked = (kind: 'plan' | 'gate' | 'shutdown', from: number, to?: number) => ({
    kind,
    memberId: 'ann',
    taskId: kind === 'gate' ? '1' : undefined,
    requestedAt: new Date(from),
    answeredAt: to === undefined ? undefined : new Date(to),
  });
  expect(workedOn(task, [], 99_000)).toBe(10_000);
  expect(workedOn(task, [asked('plan', 2_000, 5_000)], 99_000)).toBe(7_000);
  // One within another, one that ends later, one of an earlier task, one that is no question.
  const many = [asked('plan', 2_000, 5_000), asked('gate', 3_000, 4_000), asked('gate', 9_000), asked('plan', 0, 500)];
  expect(workedOn(task, [...many, asked('shutdown', 5_000, 9_000)], 99_000)).toBe(5_000);
  expect(workedOn({ ...task, completedAt: undefined }, [asked('plan', 2_000)], 8_000)).toBe(1_000);
});

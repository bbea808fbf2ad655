import { expect, test } from 'vitest';
import type { Batch } from '../../src/client/replica.ts';
import { pastOf } from '../../ui/data/task-past.ts';

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

test('the past of a task has no plan of a member that it was taken from', () => {
  const history = [
    batch(1, { type: 'task:claimed', taskId: '1', memberId: 'ann' }),
    batch(2, { type: 'task:assigned', taskId: '1', assigneeId: 'bob' }),
    batch(3, { type: 'plan:submitted', memberId: 'ann', requestId: 'of another task' }),
  ];
  expect(pastOf(history, '1').map(({ seq }) => seq)).toEqual([1, 2]);
});

import { expect, test } from 'vitest';
import { NO_USAGE } from '../../src/client/replica.ts';
import type { Batch } from '../../src/client/replica.ts';
import { attemptsOf } from '../../ui/data/task-attempts.ts';
import { messagesAbout } from '../../ui/data/task-messages.ts';

const batch = (seq: number, event: object): Batch => ({ seq, events: [{ at: seq, by: 'ann', ...event }] }) as never;

const used = (costUsd: number): object => ({ ...NO_USAGE, costUsd });

const history = [
  batch(1, { type: 'task:created', taskId: '1' }),
  batch(2, { type: 'task:claimed', taskId: '1', memberId: 'ann', epoch: 1 }),
  batch(3, { type: 'usage:recorded', taskId: '1', memberId: 'ann', usage: used(1) }),
  batch(4, { type: 'usage:recorded', taskId: '2', memberId: 'ann', usage: used(5) }),
  batch(5, { type: 'task:released', taskId: '1', memberId: 'ann', epoch: 2, reason: 'too hard' }),
  batch(6, { type: 'task:claimed', taskId: '1', memberId: 'bob', epoch: 3 }),
  batch(7, { type: 'task:rejected', taskId: '1', memberId: 'bob', feedback: 'no' }),
  batch(8, { type: 'task:completed', taskId: '1', memberId: 'bob', result: 'done' }),
  batch(9, { type: 'usage:recorded', taskId: '1', memberId: 'bob', usage: used(2) }),
];

test('each claim of a task is an attempt, with its end and what it used', () => {
  expect(attemptsOf(history, '1')).toMatchObject([
    { number: 1, memberId: 'ann', since: 2, until: 5, outcome: 'released', words: 'too hard', usage: { costUsd: 1 } },
    { number: 2, memberId: 'bob', since: 6, until: 8, outcome: 'completed', rejections: 1, usage: { costUsd: 2 } },
  ]);
  expect(attemptsOf(history.slice(0, 7), '1').at(-1)).toMatchObject({ outcome: 'open', rejections: 1 });
});

test('messages about a task name it, or are its holder’s meanwhile', () => {
  const message = (at: number, fromId: string, toId: string, content: string): object => ({
    id: `${at}`,
    fromId,
    toId,
    sentAt: new Date(at),
    content,
  });
  const messages = [
    message(1, 'lead', 'ann', 'Look at #1'),
    message(1, 'lead', 'ann', 'Look at #12, not at task 11'),
    message(3, 'lead', 'ann', 'Hurry'),
    message(3, 'lead', 'bob', 'Hurry'),
    message(9, 'eve', 'lead', 'Task 1 was good'),
  ];
  const found = messagesAbout(messages as never, '1', attemptsOf(history, '1'));
  expect(found.map(({ content, toId }) => `${toId}: ${content}`)).toEqual([
    'ann: Look at #1',
    'ann: Hurry',
    'lead: Task 1 was good',
  ]);
});

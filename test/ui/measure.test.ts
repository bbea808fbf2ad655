import { expect, test } from 'vitest';
import { loadPart } from './part.ts';

interface Measured {
  readonly spent: ReadonlyMap<string, object>;
  readonly created: readonly number[];
  readonly done: readonly number[];
}

const { measure } = await loadPart<{ measure: (history: readonly object[], now: number) => Measured }>(
  'ui/numbers/measure.ts',
);

test('who waits for an answer does not work meanwhile, and deleted tasks are not counted', () => {
  const about = { memberId: 'ann', taskId: '1', requestId: 'r' };
  const happened = [
    [0, 'teammate:joined'],
    [0, 'task:created'],
    [10, 'task:claimed'],
    [20, 'plan:submitted'],
    [70, 'plan:approved'],
    [90, 'task:completed'],
    [100, 'task:deleted'],
  ] as const;
  const history = happened.map(([at, type], i) => ({ seq: i + 1, events: [{ at, type, by: 'ann', ...about }] }));
  const { spent, created, done } = measure(history, 100);
  expect(spent.get('ann')).toEqual({ working: 30, waiting: 70 });
  expect([created.at(-1), done.at(-1)]).toEqual([0, 0]);
});

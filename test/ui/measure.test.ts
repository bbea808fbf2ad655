import { expect, test } from 'vitest';
import { loadPart } from './part.ts';

interface Measured {
  readonly spent: ReadonlyMap<string, object>;
  readonly created: readonly number[];
  readonly done: readonly number[];
}

const { measure, tasksPerHour } = await loadPart<{
  tasksPerHour: (completed: number, span: number) => number | undefined;
  measure: (history: readonly object[], requests: readonly object[], now: number) => Measured;
}>('ui/numbers/measure.ts');

test('time in which a member waits for an answer is not working time, and deleted tasks are not counted', () => {
  const about = { memberId: 'ann', taskId: '1', requestId: 'r' };
  const happened = [
    [0, 'teammate:joined'],
    [0, 'task:created'],
    [10, 'task:claimed'],
    [15, 'plan:submitted'],
    [20, 'plan:submitted'],
    [70, 'plan:approved'],
    [90, 'task:completed'],
    [100, 'task:deleted'],
  ] as const;
  const history = happened.map(([at, type], i) => ({ seq: i + 1, events: [{ at, type, by: 'ann', ...about }] }));
  const plan = (status: string, from: number, to?: number): object => ({
    kind: 'plan',
    memberId: 'ann',
    status,
    requestedAt: new Date(from),
    answeredAt: to === undefined ? undefined : new Date(to),
  });
  const { spent, created, done } = measure(history, [plan('withdrawn', 15), plan('approved', 20, 70)], 100);
  expect(spent.get('ann')).toEqual({ working: 25, waiting: 75 });
  expect([created.at(-1), done.at(-1)]).toEqual([0, 0]);
});

test('a member that was stopped while it waited works again after it came back', () => {
  const happened = [
    [0, 'teammate:joined'],
    [10, 'task:claimed'],
    [50, 'teammate:stopped'],
    [50, 'task:released'],
    [60, 'teammate:joined'],
    [60, 'task:claimed'],
    [100, 'task:completed'],
  ] as const;
  const history = happened.map(([at, type], i) => ({
    seq: i + 1,
    events: [{ at, type, memberId: 'ann', taskId: '1' }],
  }));
  const withdrawn = { kind: 'plan', memberId: 'ann', status: 'withdrawn', requestedAt: new Date(20) };
  const approved = { ...withdrawn, status: 'approved', requestedAt: new Date(70), answeredAt: new Date(80) };
  expect(measure(history, [withdrawn, approved], 110).spent.get('ann')).toEqual({ working: 40, waiting: 60 });
});

test('there is a rate only if the team ran for a while', () => {
  expect(tasksPerHour(1, 20_000)).toBeUndefined();
  expect(tasksPerHour(0, 0)).toBeUndefined();
  expect(tasksPerHour(3, 30 * 60_000)).toBe(6);
});

import { expect, test } from 'vitest';
import type { Asked } from '../../src/core/work-time.ts';
import { waitsSince, workedOn, workIn } from '../../src/core/work-time.ts';

const task = { id: '1', assigneeId: 'ann', startedAt: new Date(1_000), completedAt: new Date(11_000) };

function asked(kind: Asked['kind'], from: number, to?: number, status: Asked['status'] = 'pending'): Asked {
  return {
    kind,
    memberId: 'ann',
    taskId: kind === 'gate' ? '1' : undefined,
    status: to === undefined ? status : 'approved',
    requestedAt: new Date(from),
    answeredAt: to === undefined ? undefined : new Date(to),
  };
}

test('the time in which a question to a person was open is not work time', () => {
  expect(workedOn(task, [], 99_000)).toBe(10_000);
  expect(workedOn(task, [asked('plan', 2_000, 5_000)], 99_000)).toBe(7_000);
  // One within another, one that ends later, one of another kind, one of another member.
  const many = [asked('plan', 2_000, 5_000), asked('gate', 3_000, 4_000), asked('gate', 9_000)];
  const others = [asked('shutdown', 5_000, 9_000), { ...asked('plan', 5_000, 9_000), memberId: 'bob' }];
  expect(workedOn(task, [...many, ...others], 99_000)).toBe(5_000);
  expect(workedOn({ ...task, completedAt: undefined }, [asked('plan', 2_000)], 8_000)).toBe(1_000);
});

test('a replaced plan is no wait after the newer one is approved', () => {
  const withdrawn = asked('plan', 2_000, undefined, 'withdrawn');
  expect(workedOn(task, [withdrawn, asked('plan', 3_000, 6_000)], 99_000)).toBe(6_000);
  expect(workedOn(task, [withdrawn, asked('plan', 3_000)], 99_000)).toBe(1_000);
});

test('a plan submitted after an approval is no wait, because its member may go on', () => {
  expect(workedOn(task, [asked('plan', 2_000, 5_000), asked('plan', 6_000)], 99_000)).toBe(7_000);
});

test('dates as text, as they come over the wire, count alike', () => {
  const wire = { ...task, startedAt: task.startedAt.toISOString(), completedAt: task.completedAt.toISOString() };
  const plan = {
    ...asked('plan', 0),
    requestedAt: new Date(2_000).toISOString(),
    answeredAt: new Date(5_000).toISOString(),
  };
  expect(workedOn(wire, [plan], 99_000)).toBe(7_000);
  expect(workedOn({ ...wire, startedAt: undefined }, [plan], 99_000)).toBe(0);
});

test('a plan that was withdrawn with the release of a task is no wait for the next claim', () => {
  const gone = asked('plan', 500, undefined, 'withdrawn');
  expect(workedOn(task, [gone, asked('plan', 2_000, 5_000)], 99_000)).toBe(7_000);
  expect(workedOn(task, [gone], 99_000)).toBe(10_000);
  // One of the very moment of the claim is of this claim.
  expect(workedOn(task, [asked('plan', 1_000, undefined, 'withdrawn'), asked('plan', 3_000, 5_000)], 99_000)).toBe(
    6_000,
  );
});

test('only the waits within a period are subtracted from it', () => {
  const all = [asked('plan', 2_000, 5_000), asked('gate', 8_000)];
  const within = (from: number, to: number): number => workIn([from, to], all, 'ann');
  expect([within(0, 3_000), within(3_000, 4_000), within(4_000, 10_000)]).toEqual([2_000, 0, 3_000]);
});

test('a member waits since its first open request about its task, but not after its plan was approved', () => {
  expect(waitsSince(task, [])).toBe(undefined);
  expect(waitsSince(task, [asked('plan', 2_000), asked('gate', 3_000)])).toBe(2_000);
  expect(waitsSince(task, [asked('plan', 2_000, 5_000), asked('plan', 6_000)])).toBe(undefined);
  expect(waitsSince(task, [asked('gate', 2_000, 5_000), asked('gate', 7_000)])).toBe(7_000);
  expect(waitsSince(task, [asked('shutdown', 2_000)])).toBe(undefined);
  expect(waitsSince(task, [{ ...asked('gate', 2_000), taskId: '2' }])).toBe(undefined);
  expect(waitsSince(task, [{ ...asked('plan', 2_000), memberId: 'bob' }])).toBe(undefined);
});

test('a task that nobody holds any more was worked on until its end', () => {
  expect(workedOn({ id: '1', startedAt: new Date(1_000), completedAt: new Date(5_000) }, [], 9_000)).toBe(4_000);
});

test('a question about a budget is no wait of its member, and the order of requests does not matter', () => {
  expect(workedOn(task, [asked('plan', 2_000, 5_000), { ...asked('budget', 6_000, 9_000), taskId: '1' }], 99_000)).toBe(
    7_000,
  );
  const late = [asked('gate', 9_000, 10_000), asked('gate', 2_000, 4_000), asked('gate', 6_000, 7_000)];
  expect(workedOn(task, late, 99_000)).toBe(6_000);
  expect(workedOn(task, [asked('gate', 2_000, 3_000), asked('plan', 4_000, 6_000)], 99_000)).toBe(7_000);
  const plans = [asked('plan', 6_000), asked('plan', 2_000, 5_000)];
  expect(workedOn(task, plans, 99_000)).toBe(7_000);
});

test('a holder waits since its oldest open question, and not for a shutdown', () => {
  const open = [asked('gate', 5_000), asked('gate', 3_000), asked('gate', 1_000, 2_000)];
  expect(waitsSince(task, open)).toBe(3_000);
  expect(waitsSince(task, [{ ...asked('shutdown', 3_000), taskId: '1' }])).toBeUndefined();
  expect(waitsSince(task, [{ ...asked('gate', 3_000), memberId: 'bob' }])).toBeUndefined();
});

import { expect, test } from 'vitest';
import { decide } from '../../src/core/decide.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { evolve } from '../../src/core/evolve.ts';
import { isLeaseOver, isRenewalDue, wordLease } from '../../src/core/lease.ts';
import { openSnapshot, takeSnapshot } from '../../src/core/snapshot.ts';
import { requireTask } from '../../src/core/view.ts';
import { teamOf } from './stage.ts';
import type { Stage } from './stage.ts';

const LEASE = 30 * 60_000;

/** Ann, whom Troupe does not run, holds task 1 with a lease. */
function held(): Stage {
  const team = teamOf('ann', 'bob');
  team.task({ title: 'Write it' });
  team.as('ann', 'task.claim', { taskId: '1', lease: LEASE });
  return team;
}

/** What Troupe does when the alarm rings. */
function expire(team: Stage): TeamEvent[] {
  const command = {
    type: 'task.release',
    by: '@system',
    at: team.now,
    taskId: '1',
    reason: 'its lease is over',
  } as const;
  const events = decide(team.state, { ...command, expired: true });
  for (const event of events) evolve(team.state, event);
  return events;
}

test('a task whose holder is silent for its lease is released with a new epoch, and the holder is told, once', () => {
  const team = held();
  const { leaseUntil, epoch } = team.view('1');
  expect(leaseUntil?.getTime()).toBe(team.now + LEASE);
  team.pass(LEASE - 1);
  expect(expire(team)).toEqual([]);
  team.pass(1);
  expect(expire(team)).toMatchObject([
    { type: 'task:released', taskId: '1', memberId: 'ann', epoch: epoch + 1, reason: 'its lease is over' },
    { type: 'message:sent', by: '@system', copies: [{ toId: 'ann' }], priority: 'normal', metadata: { taskId: '1' } },
  ]);
  expect(team.view('1')).toMatchObject({ status: 'pending', assigneeId: undefined, lease: undefined });
  expect([...team.state.messages.values()].at(-1)?.content).toContain('30 min');
  expect(expire(team)).toEqual([]);
  expect(team.refuse('ann', 'task.complete', { taskId: '1', epoch }).code).toBe('stale_epoch');
});

test('a call of the holder renews the lease, and changes no revision', () => {
  const team = held();
  const { revision } = team.view('1');
  team.pass(LEASE - 1_000);
  expect(team.as('ann', 'task.renew', { taskId: '1' })).toMatchObject([{ type: 'task:renewed', memberId: 'ann' }]);
  expect(team.view('1')).toMatchObject({ revision, leaseUntil: new Date(team.now + LEASE) });
  team.pass(LEASE - 1);
  expect(expire(team)).toEqual([]);
  expect(team.refuse('bob', 'task.renew', { taskId: '1' })).toMatchObject({
    code: 'not_allowed',
    message: 'bob may not renew the lease of ann: only ann may',
  });
  team.as('ann', 'task.complete', { taskId: '1' });
  expect(team.as('ann', 'task.renew', { taskId: '1' })).toEqual([]);
  expect(team.view('1').leaseUntil).toBeUndefined();
});

test('a lease is for members that Troupe does not run, and only Troupe ends it', () => {
  const team = held();
  team.do('member.join', { name: 'cyd', agent: { kind: 'exec', command: ['true'] } });
  team.do('task.create', { title: 'Another' });
  expect(team.refuse('cyd', 'task.claim', { lease: LEASE })).toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('Troupe runs it'),
  });
  team.pass(LEASE);
  const command = { type: 'task.release', by: 'ann', at: team.now, taskId: '1', expired: true } as const;
  expect(() => decide(team.state, command)).toThrow(/may not end the lease/);
});

test('a lease ends with its claim, whoever ends that', () => {
  for (const end of [
    (team: Stage) => team.as('ann', 'task.release', { taskId: '1' }),
    (team: Stage) => team.as('ann', 'task.fail', { taskId: '1', reason: 'no' }),
    (team: Stage) => team.do('task.assign', { taskId: '1', assigneeId: 'bob' }),
    (team: Stage) => team.do('task.delete', { taskId: '1' }),
    (team: Stage) => team.do('member.leave', { memberId: 'ann' }),
  ]) {
    const team = held();
    end(team);
    expect(team.state.tasks.get('1')).toMatchObject({ lease: undefined, leaseUntil: undefined });
  }
});

test('a lease is in a snapshot, is renewed after a quarter, and is shown by its end', () => {
  const team = held();
  const task = openSnapshot('alpha', takeSnapshot(team.state))?.tasks.get('1');
  expect(task).toMatchObject({ lease: LEASE, leaseUntil: new Date(team.now + LEASE) });
  expect(isRenewalDue(task ?? {}, team.now + LEASE / 4 - 1)).toBe(false);
  expect(isRenewalDue(task ?? {}, team.now + LEASE / 4)).toBe(true);
  expect(isRenewalDue({}, team.now)).toBe(false);
  const local = new Date(2026, 0, 1, 14, 30);
  expect(wordLease({ leaseUntil: local }, local.getTime() - LEASE)).toBe('until 14:30');
  expect(wordLease({ leaseUntil: local.toISOString() }, local.getTime() - LEASE)).toBe('until 14:30');
  expect(wordLease({}, 0)).toBeUndefined();
});

test('the lease of a task is over when its time is, and a task without one has none', () => {
  const { state } = held();
  const task = requireTask(state, '1');
  const until = task.leaseUntil?.getTime() ?? 0;
  expect([until - 1, until].map((now) => isLeaseOver(task, now))).toEqual([false, true]);
  expect(isLeaseOver({ ...task, leaseUntil: undefined }, until)).toBe(false);
  expect(isLeaseOver({ ...task, status: 'pending' }, until)).toBe(false);
  expect(isLeaseOver({ ...task, work: { state: 'submitted' } } as typeof task, until)).toBe(false);
});

test('a lease lasts from a second to a week', () => {
  const team = teamOf('ann');
  team.task();
  const week = 7 * 24 * 3_600_000;
  for (const lease of [999, week + 1]) {
    expect(team.refuse('ann', 'task.claim', { taskId: '1', lease }).code).toBe('invalid');
  }
  team.as('ann', 'task.claim', { taskId: '1', lease: week });
  expect(team.view('1').leaseUntil?.getTime()).toBe(team.now + week);
});

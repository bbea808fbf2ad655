import { expect, test } from 'vitest';
import { MAX_RESTARTS_PER_NIGHT } from '../../src/core/limits.ts';
import { afterCrash, withRestart } from '../../src/core/restarts.ts';
import { teamOf } from './stage.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test('restarts: three in a minute, with a doubling back-off, then none', () => {
  expect(afterCrash([], 0)).toEqual({ restartsIn: 250 });
  expect(afterCrash([0], 100)).toEqual({ restartsIn: 500 });
  expect(afterCrash([0, 100], 200)).toEqual({ restartsIn: 1_000 });
  expect(afterCrash([0, 100, 200], 300)).toEqual({ times: 4, within: 'a minute' });
  expect(afterCrash([0, 100, 200], 59_999)).toEqual({ times: 4, within: 'a minute' });
  expect(afterCrash([0, 100, 200], 60_000)).toEqual({ restartsIn: 1_000 });
  expect(afterCrash([0, 100, 200], 60_200)).toEqual({ restartsIn: 250 });
});

test('restarts: a member that crashes every half hour is given up in the night, and not before', () => {
  let restarts: number[] = [];
  let now = 0;
  const crash = (perNight?: number) => afterCrash(restarts, (now += HOUR / 2), perNight);
  for (let i = 0; i < 20; i++) {
    expect(crash().restartsIn, String(i)).toBe(250);
    restarts = withRestart(restarts, now);
  }
  expect(crash()).toEqual({ times: 21, within: '12 hours' });
  expect(afterCrash(restarts, now, 21)).toEqual({ restartsIn: 250 });
  // The oldest restarts are forgotten after 12 hours.
  now = HOUR / 2 + 12 * HOUR;
  expect(afterCrash(restarts, now)).toEqual({ restartsIn: 250 });
  expect(withRestart(restarts, now)).toHaveLength(20);
  expect(withRestart([0], 12 * HOUR - 1)).toEqual([0, 12 * HOUR - 1]);
  expect(withRestart([0], 12 * HOUR)).toEqual([12 * HOUR]);
  const many = Array.from({ length: MAX_RESTARTS_PER_NIGHT + 5 }, (_none, n) => n);
  expect(withRestart(many, 999)).toEqual([...many.slice(1 - MAX_RESTARTS_PER_NIGHT), 999]);
});

test('restarts are counted when Troupe brings a member back, and again from none when a person does', () => {
  const team = teamOf('ann');
  const stop = (returning: boolean) => team.as('@system', 'member.leave', { memberId: 'ann', returning });
  const count = () => team.state.members.get('ann')?.restarts?.length ?? 0;
  for (let i = 1; i <= 5; i++) {
    stop(true);
    team.as('@system', 'member.join', { name: 'ann' });
    expect(count()).toBe(i);
  }
  stop(false);
  team.as('lead', 'member.join', { name: 'ann' });
  expect(count()).toBe(5);
  stop(false);
  team.as('@user', 'member.join', { name: 'ann' });
  expect(count()).toBe(0);
});

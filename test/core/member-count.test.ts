import { expect, test } from 'vitest';
import { countMembers } from '../../src/core/member-count.ts';
import { reportOf } from '../../src/core/report.ts';
import { viewTeam } from '../../src/core/view.ts';
import { Stage, teamOf } from './stage.ts';

function counts({ state }: Stage): { members: number; teammates: number } {
  const shown = viewTeam(state);
  const count = countMembers(state.members.values(), state.team);
  // The same from what the faces get.
  expect(countMembers(shown.members, shown)).toEqual(count);
  return count;
}

test('members that left are not counted, those that come back are, and of a closed team all are', () => {
  const team = teamOf('ann', 'bob', 'cyd');
  expect(counts(team)).toEqual({ members: 4, teammates: 3 });
  team.do('member.leave', { memberId: 'ann' });
  expect(counts(team)).toEqual({ members: 3, teammates: 2 });
  team.do('member.leave', { memberId: 'bob', returning: true });
  expect(counts(team)).toEqual({ members: 3, teammates: 2 });
  team.as('@user', 'team.close', { force: true });
  expect(counts(team)).toEqual({ members: 4, teammates: 3 });
});

test('of a team that nobody knows, those count that are there', () => {
  const member = (status: 'idle' | 'stopped') => ({ id: 'ann', status, agentType: 'claude' }) as const;
  expect(countMembers([member('idle'), member('stopped')], undefined)).toEqual({ members: 1, teammates: 1 });
});

test('the place of a missing lead is no member, also in the report', () => {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', leadAgentType: 'none' });
  team.as('@user', 'member.join', { name: 'ann' });
  expect(counts(team)).toEqual({ members: 1, teammates: 1 });
  expect(reportOf(team.state, team.now).members.map(({ id }) => id)).toEqual(['ann']);
});

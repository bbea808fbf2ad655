import { describe, expect, test } from 'vitest';
import { requireMember, viewTeam } from '../../../src/core/view.ts';
import { teamOf } from '../stage.ts';

describe('a new lead', () => {
  test('must be a live member: a stopped one could join as the lead, past the limit, again and again', () => {
    const team = teamOf('ann');
    team.do('member.leave', { memberId: 'ann' });
    expect(team.refuse('lead', 'team.update', { leadId: 'ann' })).toMatchObject({
      code: 'member_stopped',
      message: 'Member ann of team alpha is stopped: start it again first',
    });
    expect(team.refuse('lead', 'team.update', { leadId: 'bob' })).toMatchObject({ code: 'not_found' });
  });

  test('stands first among the members', () => {
    const team = teamOf('ann', 'bob');
    team.do('team.update', { leadId: 'bob' });
    expect(viewTeam(team.state).members.map(({ id }) => id)).toEqual(['bob', 'lead', 'ann']);
  });
});

test('a lead has no color, also when it comes back', () => {
  const team = teamOf('ann');
  expect(requireMember(team.state, 'lead').color).toBeUndefined();
  team.do('member.leave', { memberId: 'lead' });
  team.as('@user', 'member.join', { name: 'lead', role: 'lead' });
  expect(requireMember(team.state, 'lead').color).toBeUndefined();
  expect(requireMember(team.state, 'ann').color).toBe('blue');
});

import { describe, expect, test } from 'vitest';
import { requireMember, viewMember } from '../../../src/core/view.ts';
import { Stage } from '../stage.ts';

describe('a member that comes back', () => {
  test('takes its old place in a full team', () => {
    const team = small('ann', 'bob');
    team.do('member.leave', { memberId: 'ann', returning: true });
    expect(team.refuse('lead', 'member.join', { name: 'cyd' })).toMatchObject({ code: 'limit' });
    team.do('member.join', { name: 'ann' });
    expect(member(team, 'ann')).toMatchObject({ status: 'active' });
    expect(member(team, 'ann').returning).toBeUndefined();
  });
});

/** A team of two teammates at most. */
function small(...names: string[]): Stage {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', maxTeammates: 2 });
  return team.join(...names);
}

function member(team: Stage, id: string) {
  return viewMember(team.state, requireMember(team.state, id));
}

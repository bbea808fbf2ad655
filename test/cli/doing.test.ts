import { expect, test } from 'vitest';
import { describeDoing } from '../../src/cli/show/doing.ts';
import { viewTeam } from '../../src/core/view.ts';
import type { ResultOf } from '../../src/operations/index.ts';
import { teamOf } from '../core/stage.ts';
import type { Stage } from '../core/stage.ts';

test('says why a member that has nothing to do would claim nothing', () => {
  const doing = ({ state }: Stage): string => {
    const team = JSON.parse(JSON.stringify(viewTeam(state))) as ResultOf<'team.show'>;
    const ann = team.members.find(({ id }) => id === 'ann');
    return ann ? describeDoing(ann, { team, tasks: new Map(), requests: [] }) : 'gone';
  };
  const led = teamOf('ann', 'bob');
  expect(doing(led)).toBe('');
  led.do('team.update', { status: 'shutting-down' });
  expect(doing(led)).toMatch(/^waits: Team \S+ is shutting down: no new work is taken$/);

  const unled = teamOf('ann', 'bob');
  unled.do('member.leave', { memberId: unled.state.team?.leadId ?? '' });
  expect(doing(unled)).toMatch(/^waits: \S+, the lead of team \S+, has stopped: update the team with another lead/);
});

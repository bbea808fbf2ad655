import { expect, test } from 'vitest';
import { describeDoing } from '../../src/cli/show/doing.ts';
import { views } from '../../src/cli/show/views/all.ts';
import { viewTeam } from '../../src/core/view.ts';
import type { ResultOf } from '../../src/operations/index.ts';
import { teamOf } from '../core/stage.ts';
import type { Stage } from '../core/stage.ts';
import { commit } from '../samples/work.ts';

test('says why a member that has nothing to do would claim nothing', () => {
  const doing = ({ state }: Stage): string => {
    const team = JSON.parse(JSON.stringify(viewTeam(state))) as ResultOf<'team.show'>;
    const ann = team.members.find(({ id }) => id === 'ann');
    return ann ? describeDoing(ann, { team, tasks: new Map(), requests: [] }) : 'gone';
  };
  const led = teamOf('ann', 'bob');
  expect(doing(led)).toBe('');
  led.do('team.update', { status: 'shutting-down' });
  expect(doing(led)).toMatch(/^waits: Team \S+ is shutting down: members take no new work$/);

  const unled = teamOf('ann', 'bob');
  unled.do('member.leave', { memberId: unled.state.team?.leadId ?? '' });
  expect(doing(unled)).toMatch(/^waits: \S+, the lead of team \S+, has stopped: nobody can claim tasks until/);
});

test('says why a member was stopped that a person is asked about', () => {
  const stage = teamOf('ann');
  stage.do('member.leave', { memberId: 'ann', reason: 'The setup failed with exit code 7' });
  const asks = { kind: 'restart', memberId: 'ann', content: 'Again?' } as const;
  stage.as('@system', 'request.raise', asks);
  const team = JSON.parse(JSON.stringify(viewTeam(stage.state))) as ResultOf<'team.show'>;
  const requests = JSON.parse(JSON.stringify([...stage.state.requests.values()])) as ResultOf<'request.list'>;
  const ann = team.members.find(({ id }) => id === 'ann') as ResultOf<'member.show'>;
  expect(describeDoing(ann, { team, tasks: new Map(), requests })).toBe(
    'The setup failed with exit code 7; waits for your answer (restart): troupe approve ann',
  );
});

test('member show says what a member waits for, unless it is stopped', () => {
  const stage = teamOf('ann');
  const screen = { isTerminal: false, hasColor: false, columns: 80, now: 0 };
  const show = (): string => {
    const team = JSON.parse(JSON.stringify(viewTeam(stage.state))) as ResultOf<'team.show'>;
    const ann = team.members.find(({ id }) => id === 'ann') as ResultOf<'member.show'>;
    return views['member.show']?.(ann, screen, {}) ?? '';
  };
  stage.do('member.change', { memberId: 'ann', metadata: { waiting: { reason: 'no machine' }, team: 'red' } });
  expect(show()).toMatch(/^ {2}waits +no machine$/m);
  expect(show()).toMatch(/^ {2}metadata +\{"team":"red"\}$/m);
  stage.do('member.leave', { memberId: 'ann', reason: 'enough' });
  expect(show()).not.toContain('no machine');
});

test('says how to answer a question', () => {
  const stage = teamOf('ann');
  stage.as('ann', 'request.raise', { kind: 'question', memberId: 'ann', content: 'Which?' });
  const team = JSON.parse(JSON.stringify(viewTeam(stage.state))) as ResultOf<'team.show'>;
  const requests = JSON.parse(JSON.stringify([...stage.state.requests.values()])) as ResultOf<'request.list'>;
  const ann = team.members.find(({ id }) => id === 'ann') as ResultOf<'member.show'>;
  expect(describeDoing(ann, { team, tasks: new Map(), requests })).toBe(
    'waits for your answer (question): troupe answer ann',
  );
});

test('says all that a reserved task waits for', () => {
  const stage = teamOf('ann');
  stage.task();
  const taskId = stage.task({ dependencies: ['1'], assigneeId: 'ann' });
  const team = JSON.parse(JSON.stringify(viewTeam(stage.state))) as ResultOf<'team.show'>;
  const ann = team.members.find(({ id }) => id === 'ann') as ResultOf<'member.show'>;
  const task = JSON.parse(JSON.stringify(stage.view(taskId))) as ResultOf<'task.show'>;
  const doing = (facts: Partial<typeof task> = {}): string =>
    describeDoing(ann, { team, tasks: new Map([[taskId, { ...task, ...facts }]]), requests: [] });
  expect(doing()).toBe('waits: #2 needs #1');
  expect(doing({ withheld: 'its file is broken' })).toBe('waits: #2 is withheld: its file is broken, needs #1');
  expect(doing({ unjudged: true, blockedBy: [] })).toBe('waits: #2 waits for the hooks that judge new tasks');
});

test('says that the work of a member waits to land', () => {
  const stage = teamOf('ann');
  const taskId = stage.task();
  stage.as('ann', 'task.claim', { taskId });
  const team = JSON.parse(JSON.stringify(viewTeam(stage.state))) as ResultOf<'team.show'>;
  const ann = team.members.find(({ id }) => id === 'ann') as ResultOf<'member.show'>;
  const task = JSON.parse(JSON.stringify(stage.view(taskId))) as ResultOf<'task.show'>;
  const work = { memberId: 'ann', epoch: 1, base: commit(1), state: 'submitted', place: 2 } as const;
  const doing = (more: object): string =>
    describeDoing(ann, { team, tasks: new Map([[taskId, { ...task, work: { ...work, ...more } }]]), requests: [] });
  expect(doing({})).toMatch(/^#1 .*: waits to land, place 2$/);
  expect(doing({ isLanding: true })).toMatch(/^#1 .*: landing now$/);
});

import { expect, test } from 'vitest';
import { SYSTEM } from '../../src/core/actor.ts';
import { evolve } from '../../src/core/evolve.ts';
import { isSlug } from '../../src/core/fields.ts';
import { nested, parentsOf, pathTo, placeAmong, wayInto, withInner } from '../../src/core/inner-path.ts';
import { innerStanding } from '../../src/core/inner-standing.ts';
import { nameOfInner } from '../../src/core/inner.ts';
import { NAME_LENGTH } from '../../src/core/limits.ts';
import type { TeamMessage } from '../../src/core/message.ts';
import { createState } from '../../src/core/state.ts';
import { Usage } from '../../src/core/usage.ts';
import { OVER_BUDGET } from '../../src/core/waiting.ts';
import { commit, WORK } from '../samples/work.ts';
import { Stage, teamOf } from './stage.ts';

/** A team whose member holds a task. */
function holding(): Stage {
  const team = teamOf('ann');
  team.task();
  team.claimNext('ann');
  return team;
}

const used = (inputTokens: number) => Usage.parse({ inputTokens, turns: 1 });

test('the total of an inner team counts once, also if it is reported again', () => {
  const team = holding();
  team.as(SYSTEM, 'task.update', { taskId: '1', inner: 'demo-ann-1' });
  const tell = (tokens: number, inner = 'demo-ann-1') =>
    team.as(SYSTEM, 'usage.record', { memberId: 'ann', taskId: '1', usage: used(tokens), inner });
  tell(100);
  tell(100);
  tell(250);
  // Of another team, or an old total.
  tell(900, 'demo-ann-2');
  tell(100);
  expect(team.state.taskUsage.get('1')).toMatchObject({ inputTokens: 250, turns: 1 });
  expect(team.state.memberUsage.get('ann')).toMatchObject({ inputTokens: 250, turns: 1 });
  expect(team.state.tasks.get('1')?.inner).toMatchObject({ teamId: 'demo-ann-1', memberId: 'ann' });
});

test('only Troupe itself lets a team work on a task, or counts what it used', () => {
  const team = holding();
  expect(team.refuse('ann', 'task.update', { taskId: '1', inner: 'demo-ann-1' }).message).toContain('only Troupe');
  const usage = { memberId: 'ann', taskId: '1', usage: used(1), inner: 'demo-ann-1' };
  expect(team.refuse('ann', 'usage.record', usage).message).toContain('only Troupe');
});

test('a team works on a task only for its holder, and is named once for each', () => {
  const team = holding();
  const enter = (inner = 'demo-ann-1') => team.as(SYSTEM, 'task.update', { taskId: '1', inner });
  expect(enter()).toMatchObject([{ type: 'task:updated', inner: { teamId: 'demo-ann-1', memberId: 'ann' } }]);
  expect(enter()).toEqual([]);
  expect(enter('demo-ann-2')).toHaveLength(1);
  team.join('bob').as('ann', 'task.release', { taskId: '1' });
  expect(team.refuse(SYSTEM, 'task.update', { taskId: '1', inner: 'demo-bob-1' })).toMatchObject({
    code: 'conflict',
    message: 'Nobody holds task 1, so no team can work on it',
  });
  // The same name for another holder is another team.
  team.as('bob', 'task.claim', { taskId: '1' });
  expect(enter('demo-ann-2')).toMatchObject([{ inner: { teamId: 'demo-ann-2', memberId: 'bob' } }]);
});

test('a person gives a running member that is a team other texts; nobody makes a team of another member', () => {
  const team = teamOf('ann');
  const innerTeam = { path: '/p/troupe.yaml', folder: '/p', files: { '/p/troupe.yaml': 'team: new' } };
  team.do('member.join', { name: 'rev', agent: { kind: 'team', team: { ...innerTeam, files: {} } } });
  expect(team.refuse('rev', 'member.change', { memberId: 'rev', innerTeam }).code).toBe('not_allowed');
  expect(team.refuse('@user', 'member.change', { memberId: 'ann', innerTeam }).message).toContain('ann is no team');
  team.as('@user', 'member.change', { memberId: 'rev', innerTeam });
  expect(team.state.members.get('rev')?.agent).toEqual({ kind: 'team', team: innerTeam });
});

test('the name of an inner team is a valid and free one, also of long names', () => {
  const parent = { teamId: 'alpha', memberId: 'rev', taskId: '3' };
  expect(nameOfInner(parent, () => false)).toBe('alpha-rev-3');
  expect(nameOfInner(parent, (name) => name === 'alpha-rev-3')).toBe('alpha-rev-3-2');
  const long = { teamId: 'a'.repeat(NAME_LENGTH), memberId: 'b'.repeat(NAME_LENGTH), taskId: '123456789' };
  const name = nameOfInner(long, () => false);
  expect(isSlug(name)).toBe(true);
  expect(name).toHaveLength(NAME_LENGTH);
  expect(nameOfInner(long, (one) => one === name)).not.toBe(name);
});

test('a path names the way to a member', () => {
  const teams = [
    { name: 'alpha' },
    { name: 'beta', parent: { teamId: 'alpha', memberId: 'rev', taskId: '1' } },
    { name: 'gamma', parent: { teamId: 'beta', memberId: 'deep', taskId: '2' } },
    { name: 'ring', parent: { teamId: 'ring', memberId: 'ann', taskId: '1' } },
  ];
  expect(pathTo(teams, 'alpha', 'rev')).toBeUndefined();
  expect(pathTo(teams, 'beta', 'ada')).toBe('alpha/rev › ada');
  expect(pathTo(teams, 'gamma', 'ada')).toBe('alpha/rev › deep › ada');
  expect(withInner(teams, 'alpha')).toEqual(['alpha', 'beta', 'gamma']);
  expect(withInner(teams, 'ring')).toEqual(['ring']);
  expect(teams.map(({ name }) => placeAmong(teams, name) ?? '')).toContain('alpha/rev › deep');
  const shuffled = [...teams.toReversed(), { name: 'other' }];
  expect(nested(shuffled).map(({ name }) => name)).toEqual(['alpha', 'beta', 'gamma', 'other', 'ring']);
  // The team around it is not among them.
  expect(nested(teams.filter(({ name }) => name !== 'alpha'))).toHaveLength(teams.length - 1);
  expect(parentsOf(teams, 'ring').length).toBeLessThanOrEqual(teams.length);
});

test('the member in which a team is, as the team itself knows it', () => {
  const parent = { teamId: 'alpha', memberId: 'rev', taskId: '1' };
  expect(wayInto(parent)).toBe('alpha/rev');
  expect(wayInto({ ...parent, teamId: 'alpha-rev-1', memberId: 'sub', around: 'alpha/rev' })).toBe('alpha/rev › sub');
});

/** An inner team whose lead is an agent that knows its team and is idle, with ann beside it. */
function led(): Stage {
  const team = new Stage();
  const agent = { kind: 'exec', command: ['true'] } as const;
  team.as('@user', 'team.create', { name: 'alpha', leadAgent: agent, leadAgentType: 'exec', work: WORK });
  team.do('member.join', { name: 'ann', agent });
  team.task();
  for (const memberId of ['lead', 'ann']) team.as(memberId, 'member.change', { memberId, status: 'idle' });
  team.as('lead', 'member.change', { memberId: 'lead', metadata: { knows: 1 } });
  return team;
}

const change = (team: Stage, memberId: string, input: object) =>
  team.as(memberId, 'member.change', { memberId, ...input });
const finish = (team: Stage) => team.as('@user', 'task.complete', { taskId: '1' });

test.each<[string, string, (team: Stage) => unknown]>([
  ['stuck', 'its task is open and nobody does anything', () => undefined],
  ['done', 'all tasks are completed and its lead is idle', finish],
  ['done', 'all tasks are deleted', (team) => team.do('task.delete', { taskId: '1' })],
  ['working', 'its lead is active', (team) => change(team, 'lead', { status: 'active' })],
  [
    'working',
    'its lead has a turn, though it waits for more budget',
    (team) => change(team, 'lead', { status: 'active', metadata: { waiting: { reason: OVER_BUDGET } } }),
  ],
  ['working', 'its lead comes back', (team) => team.as(SYSTEM, 'member.leave', { memberId: 'lead', returning: true })],
  ['stuck', 'its lead has stopped', (team) => (finish(team), team.do('member.leave', { memberId: 'lead' }))],
  [
    'working',
    'its lead has mail',
    (team) => team.as('ann', 'message.send', { messageId: 'm1', toId: 'lead', content: 'hi' }),
  ],
  ['working', 'a member is active', (team) => change(team, 'ann', { status: 'active' })],
  [
    'stuck',
    'a member waits for more budget',
    (team) => change(team, 'ann', { status: 'active', metadata: { waiting: { reason: OVER_BUDGET } } }),
  ],
  ['working', 'a member comes back', (team) => team.as(SYSTEM, 'member.leave', { memberId: 'ann', returning: true })],
  ['stuck', 'a member has stopped', (team) => team.do('member.leave', { memberId: 'ann' })],
  ['stuck', 'a person joined, which is never busy', (team) => team.join('bob')],
  [
    'waiting',
    'a person is asked for a permission',
    (team) => team.as(SYSTEM, 'request.raise', { kind: 'permission', memberId: 'ann', content: 'May I?' }),
  ],
  [
    'working',
    'a member that runs has a question',
    (team) => team.as('ann', 'request.raise', { kind: 'question', memberId: 'ann', content: 'Which?' }),
  ],
  [
    'waiting',
    'a question is all that is left of a member',
    (team) => {
      team.as('ann', 'request.raise', { kind: 'question', memberId: 'ann', content: 'Which?' });
      evolve(team.state, { type: 'teammate:stopped', at: team.now, by: SYSTEM, memberId: 'ann' });
    },
  ],
  ['stuck', 'a shutdown is asked for', (team) => team.do('shutdown.request', { memberId: 'ann' })],
  ['waiting', 'its lead could not begin yet', (team) => change(team, 'lead', { metadata: { knows: null } })],
  [
    'waiting',
    'its lead could not begin yet, though all tasks are completed',
    (team) => (finish(team), change(team, 'lead', { metadata: { knows: null } })),
  ],
  [
    'stuck',
    'its lead failed',
    (team) => (finish(team), change(team, 'lead', { metadata: { knows: null, failure: 'no login' } })),
  ],
  [
    'working',
    'work waits to land',
    (team) => {
      team.claimNext('ann');
      const size = { files: 1, added: 1, removed: 0, paths: ['a'] };
      const work = { memberId: 'ann', epoch: 1, base: commit(1), commit: commit(2), ...size };
      team.as('ann', 'work.submit', { taskId: '1', ...work });
      change(team, 'ann', { status: 'idle' });
    },
  ],
])('an inner team is %s if %s', (standing, _why, happen) => {
  const team = led();
  happen(team);
  expect(innerStanding(team.state, false)).toBe(standing);
});

test('an inner team works while its lead is about to hear something, or reads what it heard', () => {
  const team = led();
  expect(innerStanding(team.state, true)).toBe('working');
  team.as('ann', 'message.send', { messageId: 'm1', toId: 'lead', content: 'hi' });
  team.as('lead', 'message.deliver', { memberId: 'lead', messageIds: ['m1'], sessionId: 's' });
  expect(innerStanding(team.state, false)).toBe('working');
  // It became idle again after that: the mail did not help.
  change(team, 'lead', { status: 'active' });
  change(team, 'lead', { status: 'idle' });
  expect(innerStanding(team.state, false)).toBe('stuck');
  expect(innerStanding(createState('alpha'), false)).toBe('stuck');
  // What it got in the moment in which it became idle, it had already.
  const at = team.state.members.get('lead')?.statusSince;
  const mail = team.state.messages.get('m1');
  if (mail) team.state.messages.set('m1', { ...mail, deliveredAt: at });
  expect(innerStanding(team.state, false)).toBe('stuck');
  team.state.messages.set('m1', { ...(mail as TeamMessage), deliveredAt: new Date((at?.getTime() ?? 0) + 1) });
  expect(innerStanding(team.state, false)).toBe('working');
});

test('what another team used does not count for the one that works on a task', () => {
  const team = holding();
  team.as(SYSTEM, 'task.update', { taskId: '1', inner: 'demo-ann-1' });
  const told = { at: team.now, by: SYSTEM, memberId: 'ann', taskId: '1', usage: used(100) } as const;
  evolve(team.state, { ...told, type: 'usage:recorded', inner: 'demo-ann-2' });
  evolve(team.state, { ...told, type: 'usage:recorded' });
  expect(team.state.tasks.get('1')?.inner?.usage).toMatchObject({ inputTokens: 0 });
  evolve(team.state, { ...told, type: 'usage:recorded', inner: 'demo-ann-1' });
  expect(team.state.tasks.get('1')?.inner?.usage).toMatchObject({ inputTokens: 100 });
  expect(team.state.taskUsage.get('1')).toMatchObject({ inputTokens: 300 });
});

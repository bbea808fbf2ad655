import { describe, expect, test } from 'vitest';
import type { TeamEvent } from '../../src/core/event.ts';
import { importBatches } from '../../src/core/imported.ts';
import { commit, WORK } from '../samples/work.ts';
import { Stage, teamOf, types } from './stage.ts';

const AT = Date.UTC(2026, 1, 1);
const HERE = { name: 'beta', at: AT };
const EXEC = { kind: 'exec', command: ['true'] } as const;
const HOOK = { type: 'TaskCompleted', command: 'npm test' } as const;

/** The batches of a team: one for each command would be the same. */
const batchesOf = (team: Stage): TeamEvent[][] => [team.events];

describe('a team from another machine', () => {
  test('has its new name, no hooks, and nobody who works; one more batch says so', () => {
    const team = teamOf('ann', 'bob', 'cyd');
    for (const type of ['TaskCompleted', 'TaskCompleted', 'TaskCreated'] as const) {
      team.as('@user', 'hook.register', { hook: { ...HOOK, type } });
    }
    team.task();
    team.claimNext('ann');
    team.do('member.leave', { memberId: 'bob' });
    team.as('@system', 'member.leave', { memberId: 'cyd', returning: true });
    team.do('team.update', { description: 'moved' });
    const { batches, state } = importBatches(batchesOf(team), HERE);
    expect(batches[0]).toEqual([{ ...team.events[0], name: 'beta' }, ...team.events.slice(1)]);
    expect(types(batches[1] ?? [])).toEqual([
      'hook:removed',
      'hook:removed',
      'teammate:stopped',
      'teammate:stopped',
      'task:released',
      'teammate:stopped',
    ]);
    expect(new Set(batches[1]?.map(({ by, at }) => `${by} ${at}`))).toEqual(new Set([`@system ${AT}`]));
    expect(state.team).toMatchObject({ id: 'beta', name: 'beta', hooks: [], description: 'moved' });
    expect([...state.members.values()].map(({ id, status, returning }) => [id, status, returning])).toEqual([
      ['lead', 'stopped', undefined],
      ['ann', 'stopped', undefined],
      ['bob', 'stopped', undefined],
      ['cyd', 'stopped', undefined],
    ]);
    expect(state.tasks.get('1')).toMatchObject({ status: 'pending', assigneeId: undefined });
    // The other machine may still use what it sent.
    expect(team.state.members.get('ann')?.status).not.toBe('stopped');
  });

  test('stays closed if it was', () => {
    const team = teamOf('ann');
    team.as('@user', 'team.close', { force: true });
    const { batches, state } = importBatches(batchesOf(team), HERE);
    expect(batches).toHaveLength(1);
    expect(state.team?.status).toBe('cleaned-up');
  });

  test('brings no approval of what its gates or its setup run', () => {
    const team = teamOf('ann', 'bob');
    team.task();
    team.claimNext('ann');
    const asked = { taskId: '1', feedback: 'not approved', unable: true, unapproved: 'hash of a gate' } as const;
    team.as('@system', 'task.reject', asked);
    team.as('@system', 'member.leave', { memberId: 'bob' });
    const detail = { setup: 'hash of a setup', why: 'it failed' };
    team.as('@system', 'request.raise', { kind: 'restart', memberId: 'bob', content: 'Again?', detail });
    const [gate = ''] = team.state.requests.keys();
    team.as('@user', 'request.answer', { requestId: gate, approve: true });
    const { state } = importBatches(batchesOf(team), HERE);
    expect([...state.requests.values()].map((one) => [one.status, one.detail])).toEqual([
      ['approved', { epoch: 1 }],
      ['pending', { why: 'it failed' }],
    ]);
  });

  test("is joined to none of Claude Code's teams", () => {
    const team = teamOf('ann');
    team.as('@user', 'team.update', { metadata: { native: { name: 'session-1' }, nativeOwed: [], mine: 1 } });
    const { batches, state } = importBatches(batchesOf(team), HERE);
    expect(state.team?.metadata).toEqual({ mine: 1 });
    expect(types(batches[1] ?? [])).toEqual(['team:updated', 'teammate:stopped', 'teammate:stopped']);
  });

  test('works in the clone of its repository here, without what was approved or shared there', () => {
    const setup = { command: 'make', folder: '/there', approved: 'x', timeout: 1_000 };
    const work = { ...WORK, roots: [commit(1)], remote: { name: 'origin' }, history: 'keep' as const, setup };
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', work });
    team.as('@user', 'member.join', { name: 'ann', agent: EXEC });
    team.as('@user', 'team.update', { work: { ...work, gates: 2 } });
    const { batches } = importBatches(batchesOf(team), { ...HERE, repository: '/here' });
    const moved = { ...WORK, repository: '/here', history: 'keep' };
    expect(batches[0]?.[0]).toMatchObject({ type: 'team:created' });
    expect(batches[0]?.[0]).toHaveProperty('work', moved);
    expect(batches[0]?.findLast(({ type }) => type === 'team:updated')).toHaveProperty('work', { ...moved, gates: 2 });
    expect(() => importBatches(batchesOf(team), HERE)).toThrow(
      'The team works on a repository: import it in a clone of that repository',
    );
  });
});

describe('a file is refused', () => {
  const events = teamOf('ann').events;
  const [created, ...rest] = events as [TeamEvent, ...TeamEvent[]];
  const joined = rest.find(({ type }) => type === 'teammate:joined') as TeamEvent;
  const task = { type: 'task:created', at: 1, by: 'lead', taskId: '../1', title: 't', description: '' } as const;
  const fields = { priority: 'medium', onDependencyFailure: 'block' } as const;

  test.each<[string, TeamEvent[][]]>([
    ['nothing', []],
    ['no team', [rest]],
    ['something before the team', [[joined, created]]],
    ['two teams', [[created], [created]]],
  ])('with %s', (_what, batches) => {
    expect(() => importBatches(batches, HERE)).toThrow('The file does not begin with the creation of a team');
  });

  test.each<[string, TeamEvent]>([
    ['../ann', { ...joined, memberId: '../ann' } as TeamEvent],
    ['../1', { ...task, ...fields, dependencies: [] }],
  ])('with the name %s, which no Troupe gives', (name, event) => {
    expect(() => importBatches([[created, event]], HERE)).toThrow(
      `The file has a name that no Troupe gives: "${name}"`,
    );
  });

  test('with a team that works for a member of another', () => {
    const team = new Stage();
    const parent = { teamId: 'outer', memberId: 'rev', taskId: '1' };
    team.as('@user', 'team.create', { name: 'alpha', parent });
    expect(() => importBatches(batchesOf(team), HERE)).toThrow(
      'The team works for rev of team outer, and cannot be without it',
    );
  });
});

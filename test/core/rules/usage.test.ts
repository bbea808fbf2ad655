import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from '../../../src/core/parse.ts';
import { openSnapshot, takeSnapshot } from '../../../src/core/snapshot.ts';
import { addUsage, isNoUsage, NO_USAGE, RecordUsageInput, subtractUsage, Usage } from '../../../src/core/usage.ts';
import { teamUsage } from '../../../src/core/view.ts';
import { teamOf } from '../stage.ts';

describe('usage', () => {
  test('has the size of a conversation, until another one begins', () => {
    const team = teamOf('ann');
    const contextOf = () => team.state.members.get('ann')?.context;
    const context = { used: 90_000, size: 200_000 };
    team.as('ann', 'usage.record', { memberId: 'ann', usage: { turns: 1 }, context });
    team.as('ann', 'usage.record', { memberId: 'ann', usage: { turns: 1 } });
    expect(contextOf()).toEqual(context);
    expect(openSnapshot('demo', takeSnapshot(team.state))?.members.get('ann')?.context).toEqual(context);
    team.as('ann', 'member.change', { memberId: 'ann', status: 'idle' });
    expect(contextOf()).toEqual(context);
    team.as('ann', 'member.change', { memberId: 'ann', sessionId: 'another' });
    expect(contextOf()).toBeUndefined();
  });

  test('adds up by member, by task and for the team', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    team.as('ann', 'usage.record', { memberId: 'ann', taskId, usage: { inputTokens: 5, turns: 1, costUsd: 0.5 } });
    team.do('usage.record', { memberId: 'ann', usage: { inputTokens: 2, outputTokens: 3, estimated: true } });
    team.as('@system', 'usage.record', { memberId: 'bob', taskId, usage: { cacheReadTokens: 7, cacheWriteTokens: 1 } });
    expect(team.state.memberUsage.get('ann')).toEqual({
      ...NO_USAGE,
      inputTokens: 7,
      outputTokens: 3,
      turns: 1,
      costUsd: 0.5,
      estimated: true,
    });
    expect(team.state.taskUsage.get(taskId)).toEqual({
      ...NO_USAGE,
      inputTokens: 5,
      turns: 1,
      costUsd: 0.5,
      cacheReadTokens: 7,
      cacheWriteTokens: 1,
    });
    expect(teamUsage(team.state)).toMatchObject({ inputTokens: 7, outputTokens: 3, cacheReadTokens: 7, costUsd: 0.5 });
    expect(teamUsage(teamOf().state)).toEqual(NO_USAGE);
    expect(NO_USAGE).toEqual({
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      turns: 0,
      costUsd: 0,
      estimated: false,
    });
  });

  test('is recorded even after a member has stopped or a task is deleted', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    team.do('task.delete', { taskId });
    team.do('member.leave', { memberId: 'ann' });
    expect(team.as('@system', 'usage.record', { memberId: 'ann', taskId, usage: { turns: 1 } })).toHaveLength(1);
  });

  test('of a last turn counts even if the team was closed: from the member itself, and from Troupe', () => {
    const team = teamOf('ann');
    team.do('team.close', { force: true });
    expect(team.as('ann', 'usage.record', { memberId: 'ann', usage: { turns: 1, costUsd: 2 } })).toHaveLength(1);
    expect(team.as('@system', 'usage.record', { memberId: 'ann', usage: { costUsd: 1 } })).toHaveLength(1);
    expect(teamUsage(team.state)).toMatchObject({ turns: 1, costUsd: 3 });
  });

  test('is refused for others, unknown members, unknown tasks, no team or a closed team', () => {
    const team = teamOf('ann', 'bob');
    const usage = { turns: 1 };
    expect(team.refuse('ann', 'usage.record', { memberId: 'bob', usage })).toMatchObject({
      code: 'not_allowed',
      message: 'ann may not record the usage of others: ask lead or a person',
    });
    expect(team.refuse('lead', 'usage.record', { memberId: 'eve', usage })).toMatchObject({ code: 'not_found' });
    expect(team.refuse('lead', 'usage.record', { memberId: 'ann', taskId: '9', usage })).toMatchObject({
      code: 'not_found',
      message: 'Task "9" of team alpha does not exist',
    });
    team.do('team.close', { force: true });
    for (const by of ['@user', 'lead', 'bob']) {
      expect(team.refuse(by, 'usage.record', { memberId: 'ann', usage })).toMatchObject({ code: 'team_closed' });
    }
  });

  test('of one record is limited, so that sums stay within what JSON can carry', () => {
    for (const usage of [{ costUsd: 1e308 }, { inputTokens: 2 ** 53 }, { turns: -1 }, { turns: 0.5 }]) {
      expect(() => parse(RecordUsageInput, { memberId: 'ann', usage })).toThrow(/^usage\./);
    }
    const most = Usage.parse({ inputTokens: 1e12, outputTokens: 1e12, turns: 1e12, costUsd: 1e9 });
    const team = teamOf('ann');
    for (let i = 0; i < 100; i++) team.as('@system', 'usage.record', { memberId: 'ann', usage: most });
    expect(team.state.memberUsage.get('ann')).toMatchObject({ inputTokens: 1e14, costUsd: 1e11 });
    expect(openSnapshot('alpha', takeSnapshot(team.state))?.memberUsage).toEqual(team.state.memberUsage);
  });

  test('has the same sum in any order', () => {
    const count = fc.nat(1e6);
    const usage = fc.record({
      inputTokens: count,
      outputTokens: count,
      cacheReadTokens: count,
      cacheWriteTokens: count,
      turns: count,
      costUsd: count,
      estimated: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(usage), (all) => {
        expect(all.reduce(addUsage, NO_USAGE)).toEqual([...all].reverse().reduce(addUsage, NO_USAGE));
      }),
    );
  });
});

test('the difference of two usages is never negative', () => {
  const more = { inputTokens: 9, outputTokens: 8, cacheReadTokens: 7, cacheWriteTokens: 6, turns: 5, costUsd: 4 };
  const less = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 1, turns: 2, costUsd: 1 };
  const [a, b] = [Usage.parse(more), Usage.parse({ ...less, estimated: true })];
  expect(subtractUsage(a, b)).toEqual({
    inputTokens: 8,
    outputTokens: 6,
    cacheReadTokens: 4,
    cacheWriteTokens: 5,
    turns: 3,
    costUsd: 3,
    estimated: false,
  });
  expect(subtractUsage(b, a)).toEqual({ ...NO_USAGE, estimated: true });
  expect([isNoUsage(subtractUsage(b, a)), isNoUsage(subtractUsage(a, b)), isNoUsage(a)]).toEqual([true, false, false]);
  expect(addUsage(a, b)).toEqual({
    inputTokens: 10,
    outputTokens: 10,
    cacheReadTokens: 10,
    cacheWriteTokens: 7,
    turns: 7,
    costUsd: 5,
    estimated: true,
  });
});

import { describe, expect, test } from 'vitest';
import type { Command } from '../../../src/core/command.ts';
import { decide } from '../../../src/core/decide.ts';
import { evolve } from '../../../src/core/evolve.ts';
import { SPAWNS_PER_MINUTE } from '../../../src/core/limits.ts';
import { CreateTaskInput } from '../../../src/core/task.ts';
import { requireMember, viewMember } from '../../../src/core/view.ts';
import { WORK } from '../../samples/work.ts';
import { Stage, teamOf, types } from '../stage.ts';

describe('a member with an agent', () => {
  test('is run by the first daemon that takes it', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann', agent: { kind: 'claude' }, status: 'spawning' });
    expect(member(team, 'ann').hostId).toBeUndefined();
    expect(types(team.as('@system', 'member.place', { memberId: 'ann', hostId: 'h1' }))).toEqual(['teammate:placed']);
    expect(member(team, 'ann')).toMatchObject({ hostId: 'h1', status: 'spawning' });
    expect(team.as('@system', 'member.place', { memberId: 'ann', hostId: 'h1' })).toEqual([]);
    expect(team.refuse('@system', 'member.place', { memberId: 'ann', hostId: 'h2' })).toMatchObject({
      code: 'claim_conflict',
      message: 'Member ann runs on h1',
    });
  });

  test('no longer shows that it waits when a daemon has taken it', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann', agent: { kind: 'claude' }, status: 'spawning' });
    team.as('@system', 'member.change', { memberId: 'ann', metadata: { waiting: { reason: 'no machine' } } });
    team.as('@system', 'member.place', { memberId: 'ann', hostId: 'h1' });
    expect(member(team, 'ann').metadata?.['waiting']).toBeUndefined();
  });

  test('holds nothing when a process is started for it, except work about which a person decides', () => {
    const team = teamOf('ann');
    const place = () => team.as('@system', 'member.place', { memberId: 'ann', hostId: 'h1' });
    expect(types(place())).toEqual(['teammate:placed']);
    for (const title of ['a', 'b']) {
      team.do('task.create', { title });
      team.as('ann', 'task.claim', {});
    }
    team.do('task.create', { title: 'kept for it', assigneeId: 'ann' });
    team.as('@system', 'request.raise', { kind: 'gate', memberId: 'ann', taskId: '2', content: 'Is it good?' });
    expect(place()).toMatchObject([{ type: 'task:released', taskId: '1', memberId: 'ann', epoch: 2 }]);
    expect([...team.state.tasks.values()].map(({ status }) => status)).toEqual(['pending', 'in_progress', 'pending']);
    expect(place()).toEqual([]);
  });

  test('may be run by another daemon when it joins again', () => {
    const team = teamOf('ann');
    team.as('@system', 'member.place', { memberId: 'ann', hostId: 'h1' });
    team.do('member.leave', { memberId: 'ann', returning: true });
    expect(team.refuse('@system', 'member.place', { memberId: 'ann', hostId: 'h2' }).code).toBe('member_stopped');
    team.join('ann').as('@system', 'member.place', { memberId: 'ann', hostId: 'h2' });
    expect(member(team, 'ann').hostId).toBe('h2');
  });

  test('that is lost with the only machine that may run it says so to whoever needs it', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann', agent: { kind: 'claude' }, host: 'h1' });
    team.as('@system', 'member.change', { memberId: 'ann', metadata: { waiting: { reason: 'h1 is gone' } } });
    team.as('@system', 'member.leave', { memberId: 'ann', returning: true });
    expect(team.refuse('lead', 'task.create', { title: 't', assigneeId: 'ann' })).toMatchObject({
      code: 'member_stopped',
      message: 'Member ann of team alpha is lost: h1 is gone',
    });
  });

  test('may act through the daemon that runs it, and not through one that has lost it', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann', agent: { kind: 'claude' }, status: 'spawning' });
    team.do('task.create', { title: 'a' });
    const claimOn = (onHost: string) => decide(team.state, { type: 'task.claim', by: 'ann', at: 1, onHost });
    expect(() => claimOn('h1')).toThrow('ann waits for a machine now, not on h1');
    team.as('@system', 'member.place', { memberId: 'ann', hostId: 'h1' });
    expect(types(claimOn('h1'))).toEqual(['task:claimed']);
    team.as('@system', 'member.leave', { memberId: 'ann', returning: true, hostId: 'h1' });
    team.do('member.join', { name: 'ann', agent: { kind: 'claude' }, status: 'spawning' });
    team.as('@system', 'member.place', { memberId: 'ann', hostId: 'h2' });
    expect(() => claimOn('h1')).toThrow('ann runs on h2 now, not on h1');
    expect(types(claimOn('h2'))).toEqual(['task:claimed']);
    // Usage counts from any machine, and a member without an agent is bound to no machine.
    const usage = { type: 'usage.record', by: 'ann', at: 1, onHost: 'h1', memberId: 'ann', usage: { inputTokens: 1 } };
    expect(types(decide(team.state, usage as Command))).toEqual(['usage:recorded']);
    expect(
      decide(team.state, {
        type: 'task.create',
        by: 'lead',
        at: 1,
        onHost: 'h9',
        ...CreateTaskInput.parse({ title: 'b' }),
      }),
    ).toHaveLength(1);
  });

  test.each(['lead', 'ann', '@user', 'eve'])('is not placed by %s', (by) => {
    expect(teamOf('ann').refuse(by, 'member.place', { memberId: 'ann', hostId: 'h1' })).toMatchObject({
      code: 'not_allowed',
      message: `${by} may not place members: only a daemon may`,
    });
  });

  test('is run by the daemon that it names, and by no other', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann', agent: { kind: 'claude' }, status: 'spawning', host: 'h1', labels: ['gpu'] });
    expect(member(team, 'ann')).toMatchObject({ host: 'h1', labels: ['gpu'] });
    expect(team.refuse('@system', 'member.place', { memberId: 'ann', hostId: 'h2' })).toMatchObject({
      code: 'claim_conflict',
      message: 'Member ann is to run on h1, not on h2',
    });
    team.as('@system', 'member.place', { memberId: 'ann', hostId: 'h1' });
    expect(member(team, 'ann').hostId).toBe('h1');
  });

  test('is not stopped by a daemon that no longer runs it', () => {
    const team = teamOf('ann');
    team.as('@system', 'member.place', { memberId: 'ann', hostId: 'h2' });
    expect(team.refuse('@system', 'member.leave', { memberId: 'ann', hostId: 'h1' })).toMatchObject({
      code: 'claim_conflict',
      message: 'Member ann runs on h2, not on h1',
    });
    expect(types(team.as('@system', 'member.leave', { memberId: 'ann', hostId: 'h2' }))).toEqual(['teammate:stopped']);
  });

  test('must be there', () => {
    expect(teamOf().refuse('@system', 'member.place', { memberId: 'eve', hostId: 'h1' }).code).toBe('not_found');
  });
});

describe('a member that joins', () => {
  test('has the given values and defaults for the rest', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann' });
    expect(member(team, 'ann')).toMatchObject({
      id: 'ann',
      name: 'ann',
      agentId: 'ann@alpha',
      sessionId: 'none',
      role: 'teammate',
      agentType: 'general-purpose',
      status: 'active',
      assignedTasks: [],
      planApprovalRequired: false,
      planModeRequired: false,
      backendType: 'in-process',
      joinedAt: expect.any(Date) as Date,
      color: 'blue',
    });
    expect(member(team, 'ann').spawnPrompt).toBeUndefined();
    const said = {
      sessionId: 's1',
      role: 'tester',
      agentType: 'claude',
      status: 'spawning' as const,
      planApprovalRequired: true,
      model: 'm',
      color: 'red',
      cwd: '/x',
      backendType: 'tmux' as const,
      agent: { kind: 'exec' as const, command: ['true'], env: { KEY: '${KEY}' } },
      metadata: { a: 1 },
    };
    team.as('@user', 'member.join', { name: 'bob', prompt: 'go', ...said });
    expect(member(team, 'bob')).toMatchObject({ ...said, spawnPrompt: 'go', planModeRequired: true });
  });

  test('has no secret in its record, except one that was there already', () => {
    const team = teamOf();
    const agent = { kind: 'exec' as const, command: ['true'], env: { API_KEY: 'hunter2-and-more' } };
    expect(() => team.do('member.join', { name: 'ann', agent })).toThrow(
      /^env\.API_KEY of member ann is a secret in plain text, .*: write \$\{API_KEY\}, which takes it from/,
    );
    team.do('member.join', { name: 'ann', agent: { ...agent, env: { API_KEY: '${OTHER}' } } });
    const record = team.state.members.get('ann');
    // As in older journals.
    team.state.members.set('ann', { ...record!, agent, status: 'stopped' });
    team.do('member.join', { name: 'ann', agent });
    expect(member(team, 'ann').status).toBe('active');
  });

  test("an agent works in its lead's folder, unless another is given", () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', cwd: '/project' });
    const agent = { kind: 'claude' as const };
    team.do('member.join', { name: 'ann', agent });
    team.as('@user', 'member.join', { name: 'bob', agent, cwd: '/elsewhere' });
    team.do('member.join', { name: 'cid' });
    expect(['ann', 'bob', 'cid'].map((name) => member(team, name).cwd)).toEqual(['/project', '/elsewhere', undefined]);
  });

  test('gets the next color; the ninth gets the first again', () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', maxTeammates: 32 });
    for (let i = 1; i <= 9; i++) team.join(`m${i}`);
    expect([1, 2, 8, 9].map((i) => member(team, `m${i}`).color)).toEqual(['blue', 'green', 'red', 'blue']);
  });

  test('keeps its quiet hours if others than a person bring it up again', () => {
    const team = teamOf();
    const hours = { name: 'ann', quietHours: '22:00-07:00' };
    expect(team.refuse('lead', 'member.join', hours).message).toContain('choose quiet hours');
    team.as('@user', 'member.join', hours);
    team.do('member.leave', { memberId: 'ann' });
    team.do('member.join', hours);
    team.do('member.leave', { memberId: 'ann' });
    expect(team.refuse('lead', 'member.join', { ...hours, quietHours: '21:00-07:00' }).code).toBe('not_allowed');
    team.do('member.join', { name: 'ann' });
  });

  test('must not exist already', () => {
    expect(teamOf('ann').refuse('lead', 'member.join', { name: 'ann' })).toMatchObject({
      code: 'exists',
      message: 'Team alpha has a live member ann (active): choose another name',
    });
    expect(teamOf().refuse('lead', 'member.join', { name: 'lead' })).toMatchObject({ code: 'exists' });
  });

  test('is added by the lead, a person or Troupe', () => {
    const team = teamOf('ann');
    for (const by of ['ann', 'bob']) {
      expect(team.refuse(by, 'member.join', { name: 'bob' })).toMatchObject({
        code: 'not_allowed',
        message: `${by} may not add members to the team: ask lead or a person`,
      });
    }
    team.as('@user', 'member.join', { name: 'bob' });
    team.as('@system', 'member.join', { name: 'cyd' });
  });

  test.each(['Ann', 'ANN', 'a\u0301nn', '\u00e1nn', 'ann ', '\uff41nn', 'аnn'])(
    'F36: %j is no twin of ann: it is not a valid name',
    (name) => {
      const team = teamOf('ann');
      expect(team.refuse('@user', 'member.join', { name }).code).toBe('invalid');
      expect(team.refuse('@user', 'member.join', { name: 'ann' }).code).toBe('exists');
    },
  );

  test('must fit into the team: the lead and stopped members do not count', () => {
    const team = small('ann', 'bob');
    expect(team.refuse('@user', 'member.join', { name: 'cyd' })).toMatchObject({
      code: 'limit',
      message: 'Team alpha has 2 teammates, its limit: stop one or raise maxTeammates',
    });
    team.do('member.leave', { memberId: 'ann' });
    team.join('cyd');
    expect(team.refuse('@user', 'member.join', { name: 'ann' })).toMatchObject({ code: 'limit' });
  });
});

describe('a change of a member', () => {
  test('changes what it mentions and nothing else', () => {
    const team = teamOf('ann');
    const before = member(team, 'ann');
    const changes = {
      sessionId: 's2',
      role: 'tester',
      model: 'm',
      color: 'red',
      cwd: '/y',
      backendType: 'iterm2' as const,
      metadata: { a: 1 },
    };
    expect(types(team.as('@user', 'member.change', { memberId: 'ann', ...changes }))).toEqual(['teammate:changed']);
    expect(member(team, 'ann')).toEqual({ ...before, ...changes });
  });

  test('only by a person if it is about where a member works', () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', cwd: '/project', work: WORK });
    const agent = { kind: 'exec' as const, command: ['true'] };
    team.do('member.join', { name: 'ann', agent, cwd: '/project', workspace: 'own' });
    const says = (by: string, what: string) => ({
      code: 'not_allowed',
      message: `${by} may not ${what}: only a person may`,
    });
    const elsewhere = 'choose the folder of a member';
    expect(team.refuse('ann', 'member.change', { memberId: 'ann', cwd: '/home/user/.ssh' })).toMatchObject(
      says('ann', elsewhere),
    );
    team.as('ann', 'member.change', { memberId: 'ann', cwd: '/project' });
    expect(team.refuse('lead', 'member.join', { name: 'bob', agent, cwd: '/project/..' })).toMatchObject(
      says('lead', elsewhere),
    );
    const shares = { name: 'bob', agent, workspace: 'shared' } as const;
    expect(team.refuse('lead', 'member.join', shares)).toMatchObject(
      says('lead', "let a member share the team's folder"),
    );
    // A lead may start again what a person has started.
    team.as('@user', 'member.join', { ...shares, cwd: '/elsewhere' });
    team.do('member.leave', { memberId: 'bob' });
    team.do('member.join', { ...shares, cwd: '/elsewhere' });
    expect(member(team, 'bob')).toMatchObject({ cwd: '/elsewhere', workspace: 'shared' });
  });

  test('without content has no effect', () => {
    const team = teamOf('ann');
    expect(team.as('ann', 'member.change', { memberId: 'ann' })).toEqual([]);
    expect(team.as('ann', 'member.change', { memberId: 'ann', status: 'active' })).toEqual([]);
    expect(team.as('ann', 'member.change', { memberId: 'ann', result: 'lost', reason: 'none' })).toEqual([]);
  });

  test('to another status records the time', () => {
    const team = teamOf('ann');
    const joined = member(team, 'ann').statusSince;
    team.as('ann', 'member.change', { memberId: 'ann', role: 'x' });
    expect(member(team, 'ann').statusSince).toEqual(joined);
    team.as('ann', 'member.change', { memberId: 'ann', status: 'spawning' });
    expect(member(team, 'ann').statusSince.getTime()).toBeGreaterThan(joined.getTime());
  });

  test('to idle is recorded once and has the result of the work', () => {
    const team = teamOf('ann');
    const idle = team.as('ann', 'member.change', { memberId: 'ann', status: 'idle', result: 'r1', reason: 'empty' });
    expect(idle).toMatchObject([{ type: 'teammate:idle', memberId: 'ann', result: 'r1', reason: 'empty' }]);
    expect(team.as('ann', 'member.change', { memberId: 'ann', status: 'idle', result: 'r2' })).toEqual([]);
    expect(member(team, 'ann')).toMatchObject({ status: 'idle', lastResult: 'r1' });
    team.as('ann', 'member.change', { memberId: 'ann', status: 'active' });
    team.as('ann', 'member.change', { memberId: 'ann', status: 'idle' });
    expect(member(team, 'ann').lastResult).toBe('r1');
  });

  test('to idle can come with other changes', () => {
    const team = teamOf('ann');
    const events = team.as('ann', 'member.change', { memberId: 'ann', status: 'idle', model: 'm' });
    expect(types(events)).toEqual(['teammate:idle', 'teammate:changed']);
    expect(member(team, 'ann')).toMatchObject({ status: 'idle', model: 'm' });
  });

  test('is made by the member itself or a manager', () => {
    const team = teamOf('ann', 'bob');
    for (const by of ['lead', '@user', '@system', 'ann']) {
      expect(team.as(by, 'member.change', { memberId: 'ann', role: by })).toHaveLength(1);
    }
    expect(team.refuse('bob', 'member.change', { memberId: 'ann', role: 'x' })).toMatchObject({
      code: 'not_allowed',
      message: 'bob may not change other members: ask lead or a person',
    });
    expect(team.refuse('lead', 'member.change', { memberId: 'eve', role: 'x' })).toMatchObject({ code: 'not_found' });
    expect(team.refuse('eve', 'member.change', { memberId: 'eve', role: 'x' })).toMatchObject({ code: 'not_found' });
    team.do('member.leave', { memberId: 'ann' });
    for (const by of ['lead', 'ann']) {
      expect(team.refuse(by, 'member.change', { memberId: 'ann', status: 'active' })).toMatchObject({
        code: 'member_stopped',
      });
    }
  });
});

describe('a member that leaves', () => {
  test('releases its tasks under a new epoch, and its reservations', () => {
    const team = teamOf('ann', 'bob');
    const held = team.task();
    const heldAndReserved = team.task({ assigneeId: 'ann' });
    const reserved = team.task({ assigneeId: 'ann' });
    const done = team.task({ assigneeId: 'ann' });
    const others = team.task({ assigneeId: 'bob' });
    team.as('ann', 'task.claim', { taskId: held });
    team.as('ann', 'task.claim', { taskId: heldAndReserved });
    team.do('task.complete', { taskId: done });
    const events = team.as('ann', 'member.leave', { memberId: 'ann' });
    expect(types(events).sort()).toEqual([
      'task:assigned',
      'task:assigned',
      'task:released',
      'task:released',
      'teammate:stopped',
    ]);
    expect(events.find((event) => event.type === 'task:released')).toMatchObject({ reason: 'ann stopped' });
    for (const [taskId, epoch] of [
      [held, 2],
      [heldAndReserved, 2],
      [reserved, 0],
    ] as const) {
      expect(team.view(taskId)).toMatchObject({ status: 'pending', reserved: false, epoch });
      expect(team.view(taskId).assigneeId).toBeUndefined();
    }
    expect(team.view(done)).toMatchObject({ status: 'completed', assigneeId: 'ann' });
    expect(team.view(others).assigneeId).toBe('bob');
    expect(member(team, 'ann')).toMatchObject({
      status: 'stopped',
      stoppedAt: expect.any(Date) as Date,
      assignedTasks: [],
    });
  });

  test('keeps its reservations if it will return, but not its tasks', () => {
    const team = teamOf('ann', 'bob');
    const held = team.task({ assigneeId: 'ann' });
    const reserved = team.task({ assigneeId: 'ann' });
    const free = team.task();
    for (const taskId of [held, free]) team.as('ann', 'task.claim', { taskId });
    team.do('member.leave', { memberId: 'ann', returning: true, reason: 'crash' });
    expect(member(team, 'ann')).toMatchObject({
      returning: true,
      stopReason: 'crash',
      assignedTasks: [held, reserved],
    });
    expect(team.view(held)).toMatchObject({ status: 'pending', epoch: 2, assigneeId: 'ann' });
    expect(team.claimNext('bob')).toBe(free);
    expect(team.claimNext('bob')).toBeUndefined();
    team.join('ann');
    expect([team.claimNext('ann'), team.claimNext('ann')]).toEqual([held, reserved]);
  });

  test('can no longer act', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    team.do('member.leave', { memberId: 'ann' });
    const refused = { code: 'member_stopped', message: 'Member ann of team alpha is stopped: start it again first' };
    expect(team.refuse('ann', 'task.claim', { taskId })).toMatchObject(refused);
    expect(team.refuse('ann', 'task.create', { title: 't' })).toMatchObject(refused);
    expect(team.refuse('ann', 'message.send', { messageId: 'm', toId: 'lead', content: 'x' })).toMatchObject(refused);
    expect(team.refuse('ann', 'message.broadcast', { messageId: 'm', content: 'x' })).toMatchObject(refused);
    expect(team.refuse('ann', 'plan.submit', { content: 'x' })).toMatchObject(refused);
    expect(team.refuse('ann', 'member.leave', { memberId: 'ann' })).toMatchObject(refused);
    expect(team.refuse('lead', 'member.leave', { memberId: 'ann' })).toMatchObject(refused);
    expect(team.refuse('lead', 'task.assign', { taskId, assigneeId: 'ann' })).toMatchObject(refused);
    expect(team.refuse('lead', 'task.create', { title: 't', assigneeId: 'ann' })).toMatchObject(refused);
    expect(team.refuse('lead', 'shutdown.request', { memberId: 'ann' })).toMatchObject(refused);
    // The usage of its last turn still counts.
    expect(team.as('ann', 'usage.record', { memberId: 'ann', usage: { turns: 1 } })).toHaveLength(1);
  });

  test('is stopped by itself or a manager', () => {
    const team = teamOf('ann', 'bob');
    expect(team.refuse('bob', 'member.leave', { memberId: 'ann' })).toMatchObject({
      code: 'not_allowed',
      message: 'bob may not stop other members: ask lead or a person',
    });
    expect(team.refuse('@user', 'member.leave', { memberId: 'eve' })).toMatchObject({ code: 'not_found' });
  });

  test('withdraws its pending requests, and no others', () => {
    const team = teamOf('ann', 'bob');
    team.do('shutdown.request', { memberId: 'ann' });
    team.do('shutdown.request', { memberId: 'bob' });
    team.as('ann', 'plan.submit', { content: 'p' });
    team.do('member.leave', { memberId: 'ann' });
    expect([...team.state.requests.values()].map(({ status }) => status)).toEqual([
      'withdrawn',
      'pending',
      'withdrawn',
    ]);
  });
});

describe('a member that comes back', () => {
  test('takes its old place in a full team', () => {
    const team = small('ann', 'bob');
    team.do('member.leave', { memberId: 'ann', returning: true });
    expect(team.refuse('lead', 'member.join', { name: 'cyd' })).toMatchObject({ code: 'limit' });
    team.do('member.join', { name: 'ann' });
    expect(member(team, 'ann')).toMatchObject({ status: 'active' });
    expect(member(team, 'ann').returning).toBeUndefined();
  });

  test('has its color, its messages and its usage, and needs a new approval for its plan', () => {
    const team = teamOf('ann', 'bob');
    team.as('@system', 'usage.record', { memberId: 'ann', usage: { turns: 2 } });
    team.do('member.leave', { memberId: 'ann', returning: true });
    team.do('message.send', { messageId: 'm1', toId: 'ann', content: 'hello' });
    team.do('member.join', { name: 'ann', planApprovalRequired: true });
    expect(member(team, 'ann')).toMatchObject({ color: 'blue', planModeRequired: true });
    expect(team.state.index.inboxes.get('ann')?.waiting).toEqual(new Set(['m1']));
    expect(team.state.memberUsage.get('ann')).toMatchObject({ turns: 2 });
  });

  test('can be given up: its reservations end, and it no longer counts', () => {
    const team = small('ann', 'bob');
    const taskId = team.task({ assigneeId: 'ann' });
    team.do('member.leave', { memberId: 'ann', returning: true });
    expect(team.claimNext('bob')).toBeUndefined();
    const refusal = team.refuse('lead', 'team.close', {});
    expect(refusal).toMatchObject({ code: 'conflict', message: expect.stringContaining('ann, bob') as string });
    expect(team.refuse('lead', 'member.leave', { memberId: 'ann', returning: true })).toMatchObject({
      code: 'member_stopped',
    });
    team.do('member.leave', { memberId: 'ann', reason: 'does not start' });
    expect(member(team, 'ann')).toMatchObject({ status: 'stopped', stopReason: 'does not start', assignedTasks: [] });
    expect(member(team, 'ann').returning).toBeUndefined();
    expect(team.claimNext('bob')).toBe(taskId);
    team.join('cyd');
  });

  test('is not expected by a closed team', () => {
    const team = small('ann');
    const taskId = team.task({ assigneeId: 'ann' });
    team.do('member.leave', { memberId: 'ann', returning: true });
    team.do('team.close', { force: true });
    expect(member(team, 'ann').returning).toBeUndefined();
    expect(team.view(taskId).assigneeId).toBeUndefined();
  });
});

describe('a member that agreed to shut down', () => {
  test('does not go back to work on its own', () => {
    const team = teamOf('ann');
    team.task();
    const [requested] = team.do('shutdown.request', { memberId: 'ann' });
    team.as('ann', 'shutdown.approve', { requestId: (requested as { requestId: string }).requestId });
    for (const status of ['active', 'idle', 'spawning'] as const) {
      expect(team.refuse('ann', 'member.change', { memberId: 'ann', status })).toMatchObject({
        code: 'not_allowed',
        message: 'ann may not take back its agreement to shut down: ask lead or a person',
      });
    }
    expect(team.as('ann', 'member.change', { memberId: 'ann', status: 'shutting-down' })).toEqual([]);
    expect(types(team.as('ann', 'member.change', { memberId: 'ann', metadata: { a: 1 } }))).toEqual([
      'teammate:changed',
    ]);
    expect(team.refuse('ann', 'task.claim', {})).toMatchObject({
      code: 'conflict',
      message: 'ann agreed to shut down: it takes no new work',
    });
    expect(member(team, 'ann').status).toBe('shutting-down');
  });

  test('finishes what it holds', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    team.as('ann', 'member.change', { memberId: 'ann', status: 'shutting-down' });
    team.as('ann', 'task.complete', { taskId });
    team.as('ann', 'member.leave', { memberId: 'ann' });
    expect(member(team, 'ann').status).toBe('stopped');
  });

  test('works again if a manager says so', () => {
    const team = teamOf('ann');
    team.do('member.change', { memberId: 'ann', status: 'shutting-down' });
    team.do('member.change', { memberId: 'ann', status: 'active' });
    const taskId = team.task();
    expect(team.claimNext('ann')).toBe(taskId);
  });
});

/** A team of at most two teammates. */
function small(...names: string[]): Stage {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', maxTeammates: 2 });
  return team.join(...names);
}

function member(team: Stage, id: string) {
  return viewMember(team.state, requireMember(team.state, id));
}

describe('the record of a member', () => {
  const agent = { kind: 'exec', command: ['true'] } as const;
  const pendingOf = (team: Stage) =>
    [...team.state.requests.values()].filter(({ status }) => status === 'pending').map(({ kind }) => kind);

  test('keeps its questions when it joins again, except the one whether to start it', () => {
    const team = teamOf();
    team.do('member.join', { name: 'ann', agent });
    team.do('member.join', { name: 'bob', agent });
    team.as('ann', 'request.raise', { kind: 'question', memberId: 'ann', content: 'Which?' });
    team.as('ann', 'request.raise', { kind: 'permission', memberId: 'ann', content: 'May I?' });
    for (const memberId of ['ann', 'bob']) team.as('@system', 'member.leave', { memberId });
    expect(pendingOf(team)).toEqual(['question']);
    for (const memberId of ['ann', 'bob']) {
      team.as('@system', 'request.raise', { kind: 'restart', memberId, content: 'Again?' });
    }
    team.as('@user', 'member.join', { name: 'ann', agent });
    expect(pendingOf(team)).toEqual(['question', 'restart']);
  });

  test('remembers as many starts as count, and no more', () => {
    const team = teamOf();
    for (let n = 0; n < SPAWNS_PER_MINUTE + 3; n++) {
      team.pass(60_000);
      team.as('lead', 'member.join', { name: `m${n}`, agent });
      team.do('member.leave', { memberId: `m${n}` });
    }
    const { spawns = [] } = requireMember(team.state, 'lead');
    expect(spawns).toHaveLength(SPAWNS_PER_MINUTE);
    expect(spawns.at(-1)).toBe(team.now - 1_000);
    // One that starts itself is no start.
    team.as('lead', 'member.join', { name: 'guest' });
    expect(requireMember(team.state, 'lead').spawns).toEqual(spawns);
  });

  test('has the size of a conversation until another one begins', () => {
    const team = teamOf('ann');
    const context = { used: 10, size: 100 };
    const size = () => requireMember(team.state, 'ann').context;
    const record = () => team.as('ann', 'usage.record', { memberId: 'ann', usage: {}, context });
    team.as('ann', 'member.change', { memberId: 'ann', sessionId: 's1' });
    record();
    team.as('ann', 'member.change', { memberId: 'ann', role: 'tests' });
    team.as('ann', 'member.change', { memberId: 'ann', sessionId: 's1' });
    expect(size()).toEqual(context);
    team.as('ann', 'member.change', { memberId: 'ann', sessionId: 's2' });
    expect(size()).toBeUndefined();
  });

  test('keeps the time of its status and what was granted while these do not change', () => {
    const team = teamOf('ann');
    team.as('ann', 'member.change', { memberId: 'ann', status: 'active' });
    const since = requireMember(team.state, 'ann').statusSince;
    const record = requireMember(team.state, 'ann');
    team.state.members.set('ann', { ...record, budget: { turns: 5 }, granted: { turns: 2 } });
    const told = { type: 'teammate:changed', at: team.now + 5_000, by: 'ann', memberId: 'ann' } as const;
    evolve(team.state, { ...told, status: record.status });
    evolve(team.state, { ...told, innerTeam: { path: '/a', folder: '/', files: {} } });
    expect(requireMember(team.state, 'ann')).toMatchObject({
      statusSince: since,
      granted: { turns: 2 },
      status: record.status,
    });
    expect(requireMember(team.state, 'ann').agent).toBeUndefined();
    evolve(team.state, { ...told, budget: { turns: 9 } });
    expect(requireMember(team.state, 'ann')).toMatchObject({ budget: { turns: 9 }, granted: undefined });
    evolve(team.state, { ...told, status: 'idle' });
    expect(requireMember(team.state, 'ann').statusSince).toEqual(new Date(told.at));
  });

  test('counts the time in which it ran once, and the time of its team while any agent runs', () => {
    const team = teamOf('eve');
    team.do('member.join', { name: 'ann', agent });
    const began = team.now;
    team.do('member.join', { name: 'bob', agent });
    team.pass(10_000);
    team.as('@system', 'member.leave', { memberId: 'ann', returning: true });
    const ran = team.now - began;
    expect(requireMember(team.state, 'ann').ranMs).toBe(ran);
    team.pass(10_000);
    team.as('@user', 'member.leave', { memberId: 'ann' });
    expect(requireMember(team.state, 'ann').ranMs).toBe(ran);
    expect(team.state.team).toMatchObject({ runsSince: began });
    team.do('member.leave', { memberId: 'bob' });
    expect(team.state.team).toMatchObject({ runsSince: undefined, ranMs: team.now - began });
    const before = team.state.team?.ranMs;
    team.do('member.leave', { memberId: 'eve' });
    expect(team.state.team?.ranMs).toBe(before);
  });

  test('that stops and comes back is asked no more, except for reviews and questions', () => {
    const asked = (returning: boolean) => {
      const team = teamOf('ann', 'bob');
      for (const memberId of ['ann', 'bob']) {
        for (const kind of ['permission', 'question', 'hang'] as const) {
          team.as(memberId, 'request.raise', { kind, memberId, content: kind });
        }
      }
      const review = [...team.state.requests.values()].find(({ content }) => content === 'hang');
      if (review) team.state.requests.set(review.id, { ...review, kind: 'review' });
      team.as('@system', 'member.leave', { memberId: 'ann', returning });
      return [...team.state.requests.values()].flatMap(({ kind, status }) => (status === 'pending' ? [kind] : []));
    };
    expect(asked(true)).toEqual(['question', 'review', 'permission', 'question', 'hang']);
    expect(asked(false)).toEqual(['question', 'permission', 'question', 'hang']);
  });

  test('that is heard of hangs no more; other questions stay', () => {
    const team = teamOf('ann', 'bob');
    for (const memberId of ['ann', 'bob']) {
      for (const kind of ['permission', 'hang'] as const) {
        team.as(memberId, 'request.raise', { kind, memberId, content: kind });
      }
    }
    team.as('ann', 'usage.record', { memberId: 'ann', usage: { turns: 1 } });
    expect(pendingOf(team)).toEqual(['permission', 'permission', 'hang']);
    expect(team.state.taskUsage.size).toBe(0);
  });
});

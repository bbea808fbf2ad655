import { describe, expect, test } from 'vitest';
import type { Command } from '../../../src/core/command.ts';
import { decide } from '../../../src/core/decide.ts';
import { evolve } from '../../../src/core/evolve.ts';
import { HOOKS_PER_TEAM } from '../../../src/core/limits.ts';
import { createState } from '../../../src/core/state.ts';
import { requireMember, viewTeam } from '../../../src/core/view.ts';
import { commit, WORK } from '../../samples/work.ts';
import { commandOf, Stage, teamOf, types } from '../stage.ts';
import type { InputOf } from '../stage.ts';

describe('a new team', () => {
  test('has its lead, and defaults for everything else', () => {
    const stage = new Stage();
    expect(types(stage.as('@user', 'team.create', { name: 'alpha' }))).toEqual(['team:created', 'teammate:joined']);
    expect(viewTeam(stage.state)).toMatchObject({
      id: 'alpha',
      name: 'alpha',
      leadId: 'lead',
      leadSessionId: 'none',
      teammateMode: 'auto',
      resolvedBackend: 'in-process',
      maxTeammates: 8,
      delegateMode: false,
      status: 'active',
      createdAt: expect.any(Date) as Date,
      members: [
        { id: 'lead', name: 'lead', agentId: 'lead@alpha', role: 'lead', agentType: 'person', status: 'active' },
      ],
    });
  });

  test('has a name that is valid for a file, even if no parser checked it', () => {
    for (const name of ['../../x', 'constructor', 'A', '']) {
      const command = { ...commandOf('team.create', { name: 'alpha' }, { by: '@user', at: 0 }), name } as Command;
      expect(() => decide(createState(name), command)).toThrow(
        expect.objectContaining({ code: 'invalid', message: `${JSON.stringify(name)} is not a valid team name` }),
      );
    }
  });

  test('has no secret in the commands of its lead, its agents or its hooks', () => {
    const stage = new Stage();
    const agent = { kind: 'exec' as const, command: ['run', 'https://me:hunter2@host/'] };
    const create = { name: 'alpha' };
    expect(() => stage.as('@user', 'team.create', { ...create, leadAgent: agent })).toThrow(
      /^command\[1\] of the lead lead has a secret in plain text/,
    );
    expect(() => stage.as('@user', 'team.create', { ...create, agents: { mine: agent } })).toThrow(/of agent mine has/);
    stage.as('@user', 'team.create', create);
    expect(() => stage.as('@user', 'team.update', { agents: { mine: agent } })).toThrow(/of agent mine has/);
    const hook = { type: 'TaskCreated' as const, command: 'sk-live-0123456789 gate' };
    expect(() => stage.as('@user', 'hook.register', { hook })).toThrow(/^The command of the TaskCreated hook has/);
    stage.as('@user', 'hook.register', { hook: { ...hook, command: 'curl https://me:$PASSWORD@host/' } });
  });

  test('has all given values', () => {
    const stage = new Stage();
    const said = {
      description: 'd',
      leadSessionId: 's1',
      teammateMode: 'tmux',
      resolvedBackend: 'tmux',
      maxTeammates: 32,
      delegateMode: true,
      metadata: { a: 1 },
    } as const;
    const lead = {
      leadName: 'ann',
      leadAgentType: 'claude',
      leadModel: 'm',
      cwd: '/x',
      leadHost: 'h1',
      leadLabels: ['gpu'],
    };
    stage.as('ann', 'team.create', { name: 'alpha', ...said, ...lead });
    expect(viewTeam(stage.state)).toMatchObject({
      ...said,
      leadId: 'ann',
      members: [
        { id: 'ann', sessionId: 's1', agentType: 'claude', model: 'm', cwd: '/x', host: 'h1', labels: ['gpu'] },
      ],
    });
  });

  test('is refused if there is one, open or closed', () => {
    const team = teamOf();
    const exists = { code: 'exists', message: 'Team alpha exists: choose another name or use it' };
    expect(team.refuse('@user', 'team.create', { name: 'alpha' })).toMatchObject(exists);
    team.do('team.close', {});
    expect(team.refuse('@user', 'team.create', { name: 'alpha' })).toMatchObject(exists);
  });
});

describe('a change of the team', () => {
  test('changes what it mentions and nothing else', () => {
    const team = teamOf('ann');
    const before = viewTeam(team.state);
    team.do('team.update', { description: 'new', maxTeammates: 3, delegateMode: true, leadSessionId: 's2' });
    expect(viewTeam(team.state)).toEqual({
      ...before,
      description: 'new',
      maxTeammates: 3,
      delegateMode: true,
      leadSessionId: 's2',
    });
  });

  test.each(['lead', '@user', '@system'])('is made by %s', (by) => {
    expect(types(teamOf('ann').as(by, 'team.update', { description: 'new' }))).toEqual(['team:updated']);
  });

  test('ends delegate mode only if a person makes it; the lead may begin it', () => {
    const team = teamOf('ann');
    team.as('lead', 'team.update', { delegateMode: false });
    team.as('lead', 'team.update', { delegateMode: true });
    expect(team.refuse('lead', 'team.update', { delegateMode: false })).toMatchObject({
      code: 'not_allowed',
      message: 'lead may not end delegate mode: only a person may',
    });
    team.as('lead', 'team.update', { delegateMode: true, description: 'new' });
    team.as('@user', 'team.update', { delegateMode: false });
    team.as('lead', 'task.claim', { taskId: team.task() });
  });

  test('is refused to others', () => {
    const team = teamOf('ann');
    expect(team.refuse('ann', 'team.update', { maxTeammates: 32 })).toMatchObject({
      code: 'not_allowed',
      message: 'ann may not change the team: ask lead or a person',
    });
    expect(team.refuse('eve', 'team.update', { maxTeammates: 32 })).toMatchObject({ code: 'not_allowed' });
  });

  test('to shutting down stops new claims until it is reversed', () => {
    const team = teamOf('ann');
    const taskId = team.task();
    team.do('team.update', { status: 'shutting-down' });
    expect(team.refuse('ann', 'task.claim', { taskId })).toMatchObject({
      code: 'conflict',
      message: 'Team alpha is shutting down: members take no new work',
    });
    expect(team.refuse('ann', 'task.claim', {})).toMatchObject({ code: 'conflict' });
    team.do('team.update', { status: 'active' });
    expect(team.claimNext('ann')).toBe(taskId);
  });

  test('to fewer teammates than there are stops none and admits none', () => {
    const team = teamOf('ann', 'bob');
    team.do('team.update', { maxTeammates: 1 });
    expect(team.refuse('lead', 'member.join', { name: 'cyd' })).toMatchObject({
      code: 'limit',
      message: 'Team alpha has 1 teammates, its limit: stop one or raise maxTeammates',
    });
    expect(requireMember(team.state, 'bob').status).toBe('active');
  });
});

describe('a new lead', () => {
  test('decides for others, and the old one no longer does', () => {
    const team = teamOf('ann');
    team.do('team.update', { leadId: 'ann' });
    expect(team.refuse('lead', 'team.update', { description: 'x' })).toMatchObject({
      code: 'not_allowed',
      message: 'lead may not change the team: ask ann or a person',
    });
    team.as('ann', 'member.join', { name: 'bob' });
    team.as('ann', 'member.leave', { memberId: 'lead' });
  });

  test('must be a live member: a stopped one could join as the lead past the limit, repeatedly', () => {
    const team = teamOf('ann');
    team.do('member.leave', { memberId: 'ann' });
    expect(team.refuse('lead', 'team.update', { leadId: 'ann' })).toMatchObject({
      code: 'member_stopped',
      message: 'Member ann of team alpha is stopped: start it again first',
    });
    expect(team.refuse('lead', 'team.update', { leadId: 'bob' })).toMatchObject({
      code: 'not_found',
      message: 'Team alpha has no member "bob"; it has lead',
    });
  });

  test('is the first of the members', () => {
    const team = teamOf('ann', 'bob');
    team.do('team.update', { leadId: 'bob' });
    expect(viewTeam(team.state).members.map(({ id }) => id)).toEqual(['bob', 'lead', 'ann']);
  });

  test('leaves its place as a teammate to the old one', () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', maxTeammates: 1 });
    team.join('ann');
    team.do('team.update', { leadId: 'ann' });
    expect(team.refuse('ann', 'member.join', { name: 'bob' })).toMatchObject({ code: 'limit' });
    team.as('ann', 'member.leave', { memberId: 'lead' });
    team.as('ann', 'member.join', { name: 'bob' });
    expect(team.refuse('ann', 'member.join', { name: 'lead' })).toMatchObject({ code: 'limit' });
  });
});

test('a lead has no color, also after its return', () => {
  const team = teamOf('ann');
  expect(requireMember(team.state, 'lead').color).toBeUndefined();
  team.do('member.leave', { memberId: 'lead' });
  team.as('@user', 'member.join', { name: 'lead', role: 'lead' });
  expect(requireMember(team.state, 'lead').color).toBeUndefined();
  expect(requireMember(team.state, 'ann').color).toBe('blue');
});

describe('a lead that is stopped', () => {
  test("decides nothing until its return, and needs no teammate's place", () => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', maxTeammates: 1 });
    team.join('ann');
    team.do('member.leave', { memberId: 'lead' });
    expect(team.refuse('lead', 'team.update', { description: 'x' })).toMatchObject({
      code: 'member_stopped',
      message: 'Member lead of team alpha is stopped: start it again first',
    });
    team.as('@user', 'member.join', { name: 'lead' });
    team.do('team.update', { description: 'x' });
  });
});

describe('closing a team', () => {
  test('is refused while teammates live, and names them', () => {
    const team = teamOf('ann', 'bob');
    expect(team.refuse('lead', 'team.close', {})).toMatchObject({
      code: 'conflict',
      message: 'Team alpha has live teammates (ann, bob): shut them down first',
      facts: { option: { field: 'force', effect: 'close it anyway' } },
    });
    expect(team.refuse('ann', 'team.close', { force: true })).toMatchObject({
      code: 'not_allowed',
      message: 'ann may not close the team: ask lead or a person',
    });
  });

  test('stops the lead too, and makes the team read-only', () => {
    const team = teamOf('ann');
    team.do('member.leave', { memberId: 'ann' });
    expect(types(team.do('team.close', {}))).toEqual(['teammate:stopped', 'team:closed']);
    expect(viewTeam(team.state)).toMatchObject({
      status: 'cleaned-up',
      closedAt: expect.any(Date) as Date,
      members: [
        { id: 'lead', status: 'stopped', stopReason: 'team closed' },
        { id: 'ann', status: 'stopped' },
      ],
    });
  });

  test('by force stops all members, releases their tasks and withdraws pending requests', () => {
    const team = teamOf('ann', 'bob');
    const taskId = team.task();
    team.as('ann', 'task.claim', { taskId });
    team.do('shutdown.request', { memberId: 'bob' });
    expect(types(team.as('@user', 'team.close', { force: true }))).toEqual([
      'teammate:stopped',
      'teammate:stopped',
      'task:released',
      'teammate:stopped',
      'team:closed',
    ]);
    expect(team.view(taskId)).toMatchObject({ status: 'pending', epoch: 2 });
    expect([...team.state.requests.values()]).toMatchObject([{ status: 'withdrawn' }]);
  });
});

describe('a hook of the team', () => {
  const gate = { type: 'TaskCompleted', command: 'npm test' } as const;

  test.each(['@user', '@system'])('is registered by %s; hooks run in that order', (by) => {
    const team = teamOf();
    expect(viewTeam(team.state).hooks).toEqual([]);
    expect(types(team.as(by, 'hook.register', { hook: gate }))).toEqual(['hook:registered']);
    team.as(by, 'hook.register', { hook: { type: 'TeammateIdle', command: 'true', onFailure: 'block' } });
    team.as(by, 'hook.register', { hook: { ...gate, executor: 'node', command: 'gate.js' } });
    expect(viewTeam(team.state).hooks).toMatchObject([
      { ...gate, executor: 'shell', timeout: 120_000, enabled: true, onFailure: 'allow' },
      { type: 'TeammateIdle', onFailure: 'block' },
      { type: 'TaskCompleted', executor: 'node', command: 'gate.js' },
    ]);
  });

  test('is removed with all others of its type', () => {
    const team = teamOf();
    for (const hook of [gate, { type: 'TeammateIdle', command: 'true' } as const, gate]) {
      team.as('@user', 'hook.register', { hook });
    }
    expect(types(team.as('@user', 'hook.remove', { hookType: 'TaskCompleted' }))).toEqual(['hook:removed']);
    expect(viewTeam(team.state).hooks).toMatchObject([{ type: 'TeammateIdle' }]);
    expect(team.as('@user', 'hook.remove', { hookType: 'TaskCompleted' })).toEqual([]);
  });

  test.each(['lead', 'ann', 'eve'])('cannot be changed by %s', (by) => {
    const team = teamOf('ann');
    team.as('@user', 'hook.register', { hook: gate });
    expect(team.refuse(by, 'hook.register', { hook: gate })).toMatchObject({
      code: 'not_allowed',
      message: `${by} may not register hooks: only a person may`,
    });
    expect(team.refuse(by, 'hook.remove', { hookType: 'TaskCompleted' })).toMatchObject({
      code: 'not_allowed',
      message: `${by} may not remove hooks: only a person may`,
    });
  });

  test('is one of a limited number', () => {
    const team = teamOf();
    for (let i = 0; i < HOOKS_PER_TEAM; i++) team.as('@user', 'hook.register', { hook: gate });
    expect(team.refuse('@user', 'hook.register', { hook: gate })).toMatchObject({
      code: 'limit',
      message: `Team alpha has ${HOOKS_PER_TEAM} hooks, the limit: remove some`,
    });
  });
});

test('a lead that Troupe runs has a process, another one has not', () => {
  const backend = (input: Partial<InputOf<'team.create'>> = {}) => {
    const team = new Stage();
    team.as('@user', 'team.create', { name: 'alpha', ...input });
    return team.state.members.get('lead')?.backendType;
  };
  expect([backend(), backend({ leadAgent: { kind: 'exec', command: ['true'] } })]).toEqual([
    'in-process',
    'subprocess',
  ]);
});

test('only a person says which agents a lead may start, and what follows when a limit is reached', () => {
  const team = teamOf();
  const refused = (input: Partial<InputOf<'team.update'>>) => team.refuse('lead', 'team.update', input).message;
  expect(refused({ agents: { claude: { kind: 'claude' } } })).toContain('choose the agents that the lead may start');
  expect(refused({ onLimit: 'ask' })).toContain('choose what follows when a limit is reached');
});

test.each([
  ['native', { name: 'private' }],
  ['formerNative', { name: 'private' }],
  ['nativeShutdowns', { ann: 'r1' }],
  ['nativeOwed', []],
  ['folder', '/elsewhere'],
  ['file', 'other.yaml'],
  ['host', 'h2'],
  ['notify', { command: ['true'] }],
  ['notifyFolder', '/elsewhere'],
  ['hookTrouble TaskCompleted npm test', 'It is broken'],
])('a lead cannot write into the metadata of its team what Troupe reads there: %s', (key, value) => {
  const team = teamOf('ann');
  const says = {
    code: 'not_allowed',
    message: `lead may not write ${key} into the metadata of a team: only a person may`,
  };
  expect(team.refuse('lead', 'team.update', { metadata: { [key]: value } })).toMatchObject(says);
  team.as('@user', 'team.update', { metadata: { [key]: value } });
  expect(team.refuse('lead', 'team.update', { metadata: { mine: 1, [key]: null } })).toMatchObject(says);
  // What stays as it is can be sent along.
  team.as('lead', 'team.update', { metadata: { mine: 1, [key]: value } });
  expect(team.state.team?.metadata).toEqual({ mine: 1, [key]: value });
});

test('a member, or its lead, cannot write that it is another one in a native team', () => {
  const team = teamOf('ann');
  const metadata = { native: { name: 'team-lead' } };
  for (const [by, error] of [
    ['ann', team.refuse('ann', 'member.change', { memberId: 'ann', metadata })],
    ['lead', team.refuse('lead', 'member.join', { name: 'bob', metadata })],
  ] as const) {
    const message = `${by} may not write native into the metadata of a member: only a person may`;
    expect(error).toMatchObject({ code: 'not_allowed', message });
  }
  team.do('member.join', { name: 'bob', metadata: { mine: 1 } });
  team.as('@system', 'member.change', { memberId: 'bob', metadata });
  team.as('lead', 'member.leave', { memberId: 'bob' });
  // It comes back as it was.
  team.as('lead', 'member.join', { name: 'bob', metadata });
  expect(team.state.members.get('bob')?.metadata).toMatchObject(metadata);
});

test('a team keeps its lead term, its grants and its tip unless a change is about them', () => {
  const team = new Stage();
  team.as('@user', 'team.create', { name: 'alpha', work: WORK, budget: { turns: 5 } });
  team.join('ann');
  const record = team.state.team;
  if (record?.work) {
    team.state.team = { ...record, granted: { turns: 2 }, work: { ...record.work, tip: commit(3), queue: ['7'] } };
  }
  const term = () => team.state.team?.leadTerm ?? 0;
  const before = term();
  team.as('@user', 'team.update', { leadId: 'lead' });
  team.as('@user', 'team.update', { description: 'new', work: { ...WORK, gates: 2 } });
  expect(term()).toBe(before);
  expect(team.state.team).toMatchObject({ granted: { turns: 2 }, work: { tip: commit(3), queue: ['7'], gates: 2 } });
  team.as('@user', 'team.update', { leadId: 'ann', budget: { turns: 9 } });
  expect(term()).toBe(before + 1);
  expect(team.state.team).toMatchObject({ granted: undefined, budget: { turns: 9 } });
  const none = createState('alpha');
  evolve(none, { type: 'team:closed', at: 1, by: '@user' });
  expect(none.team).toBeUndefined();
});

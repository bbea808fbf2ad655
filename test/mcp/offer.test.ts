import { expect, test } from 'vitest';
import { TOOLS, describeTool } from '../../src/mcp/tools.ts';
import { ADMIN } from '../../src/operations/caller.ts';
import { connect, LEAD, member, openHouse, openTeam, refusal, toolNames, use } from './house.ts';

const COORDINATION = [
  'TeamStatus',
  'AskUser',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskUpdate',
  'SendMessage',
  'Inbox',
  'NoteAdd',
  'NoteSearch',
];
const WORK = ['TaskClaim', 'TaskComplete'];
const TEAM = ['TeamCreate', 'TeamDelete', 'SpawnTeammate'];
const sorted = (...names: string[][]): string[] => names.flat().sort();

test('describes every tool in a form that all agents accept', async () => {
  const client = await connect(await openTeam(), LEAD);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(sorted(COORDINATION, WORK, TEAM));
  const readers = new Set(['NoteSearch', 'TaskGet', 'TaskList', 'TeamStatus']);
  for (const tool of tools) {
    expect(tool).toMatchObject({ _meta: { 'anthropic/alwaysLoad': true } });
    expect(tool.annotations).toEqual(
      readers.has(tool.name) ? { readOnlyHint: true } : { destructiveHint: false, openWorldHint: false },
    );
    expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    // The credential determines the team.
    if (tool.name !== 'TeamCreate') expect(tool.inputSchema.properties).not.toHaveProperty('team_name');
  }
});

test('keeps the list of tools short, because every agent reads all of it', () => {
  // Only a reviewer reads that of its verdict.
  const all = TOOLS.filter(({ reviews }) => !reviews);
  const list = all.map((tool) => describeTool(tool, { named: false }));
  // The two tools for notes take 600 of these: members need not find out twice what one has noted. Another 60 are for
  // the epoch, which says under which claim an agent writes, 180 for the files that tasks change, 660 for questions to
  // the user, 110 for the lease of a claim, 20 for other teams, and 790 for work, which only teams with workspaces get.
  expect(JSON.stringify(list).length).toBeLessThan(8_580);
  const read = list.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  expect(JSON.stringify(read).length).toBeLessThan(6_930);
  const forTeammates = read.filter((_tool, i) => all[i]?.for !== 'lead');
  expect(JSON.stringify(forTeammates).length).toBeLessThan(6_030);
});

test('offers no tools while the feature is off', async () => {
  const house = await openTeam();
  const off = await connect(house, ADMIN, { greeting: { team: 'demo', teams: false } });
  expect(await toolNames(off)).toEqual([]);
  expect(off.getInstructions()).toBeUndefined();
  await expect(off.callTool({ name: 'TaskList', arguments: {} })).rejects.toThrow('There is no tool TaskList');
  expect(await toolNames(await connect(house, member('alice'), { greeting: { teams: false } }))).toEqual([]);
  expect(await toolNames(await connect(house, ADMIN, { greeting: { team: 'demo', teams: true } }))).toHaveLength(15);
  expect(await toolNames(await connect(house, member('alice')))).toHaveLength(12);
});

test("tells a person's client why it gets no tools, and how to get them", async () => {
  const person = await connect(await openTeam(), ADMIN);
  expect(await toolNames(person)).toEqual([]);
  expect(person.getInstructions()).toMatch(/a person's credential.*x-troupe-teams: 1.*troupe mcp --team TEAM/);
  await expect(person.callTool({ name: 'TaskList', arguments: {} })).rejects.toThrow(
    "There is no tool TaskList. This is a person's credential",
  );
});

test('offers each caller the tools that it may use', async () => {
  const house = await openTeam();
  const offered = async (...given: Parameters<typeof connect> extends [unknown, ...infer R] ? R : never) =>
    (await toolNames(await connect(house, ...given))).sort();
  expect(await offered(LEAD)).toEqual(sorted(COORDINATION, WORK, TEAM));
  expect(await offered(member('alice'))).toEqual(sorted(COORDINATION, WORK));
  for (const name of ['alice', 'lead']) {
    expect(await offered(member(name, 'reader'))).toEqual(['NoteSearch', 'TaskGet', 'TaskList', 'TeamStatus']);
  }
  expect(await offered(ADMIN, { greeting: { team: 'demo', as: 'alice', teams: true } })).toEqual(
    sorted(COORDINATION, WORK),
  );
  // A person who is to be the lead of a team that does not exist yet makes it.
  expect(await offered(ADMIN, { greeting: { as: 'boss', teams: true } })).toEqual(expect.arrayContaining(TEAM));
  const alice = await connect(house, member('alice'));
  expect(await refusal(alice, 'TeamDelete')).toBe('not_allowed');
  expect(await refusal(alice, 'TeamCreate', { team_name: 'mine' })).toBe('not_allowed');
  const reader = await connect(house, member('alice', 'reader'));
  expect(await refusal(reader, 'TaskCreate', { subject: 's', description: '' })).toBe('not_allowed');
  expect(await refusal(reader, 'Inbox')).toBe('not_allowed');
  const lead = await connect(house, LEAD);
  await house.services.ledger.drop('demo');
  expect(await toolNames(lead)).not.toContain('TeamDelete');
});

test('gives a lead only coordination tools as soon as delegate mode begins', async () => {
  const house = await openTeam();
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  let changed = 0;
  const lead = await connect(house, LEAD, {
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void changed++ } },
  });
  expect(await toolNames(lead)).toContain('TaskClaim');
  await house.call('team.update', { teamId: 'demo', delegateMode: true });
  await expect.poll(() => changed).toBe(1);
  expect((await toolNames(lead)).sort()).toEqual(sorted(COORDINATION, TEAM));
  expect(await refusal(lead, 'TaskClaim')).toBe('not_allowed');
  expect(await refusal(lead, 'TaskComplete', { taskId: '1' })).toBe('not_allowed');
  for (const status of ['in_progress', 'completed']) {
    expect(await refusal(lead, 'TaskUpdate', { taskId: '1', status })).toBe('not_allowed');
  }
  expect(await refusal(lead, 'TaskUpdate', { taskId: '1', owner: 'lead' })).toBe('not_allowed');
  expect((await use(lead, 'TaskUpdate', { taskId: '1', owner: 'alice', status: 'in_progress' })).data.task.owner).toBe(
    'alice',
  );
  expect(await toolNames(await connect(house, member('alice')))).toContain('TaskClaim');
  const person = await connect(house, ADMIN, { greeting: { team: 'demo', as: 'lead', teams: true } });
  expect(await refusal(person, 'TaskClaim', { team_name: 'demo' })).toBe('not_allowed');
});

test('makes a team with its creator as the lead', async () => {
  const house = openHouse();
  const person = await connect(house, ADMIN, { greeting: { teams: true } });
  expect(await refusal(person, 'TaskList')).toBe('invalid');
  const { tools } = await person.listTools();
  expect(tools.find(({ name }) => name === 'TaskList')?.inputSchema.properties).toHaveProperty('team_name');

  const made = await use(person, 'TeamCreate', { team_name: 'My Team', description: 'd', agent_type: 'general' });
  expect(made.text).toMatch(/^Team "my-team" created; you are its lead, "lead"\. Next: TaskCreate/);
  expect(made.data).toEqual({ team_name: 'my-team', lead: 'lead', description: 'd' });
  await use(person, 'TaskCreate', { subject: 'First', description: '' });
  await house.call('member.add', { teamId: 'my-team', name: 'alice' });
  await use(person, 'SendMessage', { to: 'alice', message: 'hi' });
  const senders = (await house.events('my-team')).flatMap(({ type, by }) => (type === 'message:sent' ? [by] : []));
  expect(senders).toEqual(['lead']);
  expect((await use(person, 'TeamStatus')).data).toMatchObject({
    team_name: 'my-team',
    lead: 'lead',
    you: 'lead',
    tasks: { pending: 1 },
    members: [{ name: 'lead' }, { name: 'alice', status: 'active', tasks: [] }],
  });

  expect(await use(person, 'TeamDelete')).toMatchObject({
    isError: true,
    text: 'conflict: Team my-team has live teammates (alice): shut them down first',
  });
  await house.call('member.remove', { teamId: 'my-team', memberId: 'alice' });
  expect((await use(person, 'TeamDelete')).text).toContain('Team "my-team" is closed');
  expect(await refusal(person, 'TaskCreate', { subject: 'Late', description: '' })).toBe('team_closed');
  expect(await refusal(person, 'TeamCreate', { team_name: 'my-team' })).toBe('exists');
});

test('lets a person name the team in each call', async () => {
  const house = await openTeam();
  const person = await connect(house, ADMIN, { greeting: { teams: true } });
  await use(person, 'TaskCreate', { team_name: 'demo', subject: 'First', description: '' });
  expect((await use(person, 'TaskList', { team_name: 'demo' })).data.tasks).toHaveLength(1);
  expect(await refusal(person, 'TaskList', { team_name: 'none' })).toBe('invalid');
  expect(await refusal(person, 'TaskList', { team_name: 'gone' })).toBe('not_found');
  expect(await refusal(person, 'TaskClaim', { team_name: 'demo' })).toBe('invalid');
  expect(await refusal(person, 'Inbox', { team_name: 'demo' })).toBe('invalid');
});

test("answers a lead's TeamCreate with the team that it already has", async () => {
  const lead = await connect(await openTeam(), LEAD);
  expect((await use(lead, 'TeamCreate', { team_name: 'demo' })).text).toMatch(/^You lead team "demo" already\./);
  expect(await refusal(lead, 'TeamCreate', { team_name: 'new' })).toBe('not_allowed');
});

test('also serves clients of the newest protocol', async () => {
  const house = await openTeam();
  const client = await connect(house, member('alice'), { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  expect(await toolNames(client)).toHaveLength(12);
  expect((await use(client, 'TaskCreate', { subject: 'First', description: '' })).isError).toBe(false);
  expect(client.getInstructions()).toMatch(/^You are "alice" in team "demo"\./);
});

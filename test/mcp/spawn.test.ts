import { expect, test } from 'vitest';
import { connect, LEAD, openTeam, refusal, use } from './house.ts';

const AGENTS = { tester: { kind: 'exec', command: ['true'] }, writer: { kind: 'exec', command: ['false'] } };

test('a lead that names no agent gets the first that a person set up for the team', async () => {
  const client = await connect(await openTeam([], { agents: AGENTS }), LEAD);
  expect(await use(client, 'SpawnTeammate', { name: 'one', role: 'tests' })).toMatchObject({
    isError: false,
    data: { name: 'one', agent: 'exec' },
  });
  expect((await use(client, 'SpawnTeammate', { name: 'two', agent: 'writer' })).text).toContain('"two" (writer)');
});

test('a lead cannot add members if no person set up an agent', async () => {
  const client = await connect(await openTeam([]), LEAD);
  expect(await refusal(client, 'SpawnTeammate', { name: 'one' })).toBe('not_allowed');
});

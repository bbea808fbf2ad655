import { expect, test } from 'vitest';
import type { AgentExtras, AgentSpec } from '../../src/core/agent.ts';
import { ADMIN } from '../../src/operations/caller.ts';
import type { Caller } from '../../src/operations/caller.ts';
import { agentForTeammate, chooseAgent } from '../../src/operations/choose-agent.ts';
import { openTeam } from '../mcp/house.ts';

const OURS: AgentSpec = { kind: 'acp', name: 'goose' };
const SCRIPT: AgentSpec = { kind: 'exec', command: ['true'] };
const LEAD: Caller = { scope: 'lead', teamId: 'demo', memberId: 'lead' };
const UNSAID = { agentType: 'general-purpose' };

/** The agent that a caller gets without naming one, in a team with this input. */
async function choose(team: object, caller: Caller = ADMIN, others: readonly AgentSpec[] = []): Promise<AgentSpec> {
  const house = await openTeam([], team);
  for (const [at, agent] of others.entries()) {
    await house.call('member.add', { teamId: 'demo', name: `mate-${at}`, agent });
  }
  return house.services.ledger.view('demo', (state) => chooseAgent(state, caller, UNSAID, () => OURS));
}

test('the default agent is the first one that was set up for the team', async () => {
  const agents = { fast: { kind: 'codex', model: 'small' }, slow: { kind: 'claude' } };
  expect(await choose({ agents, leadAgent: { kind: 'claude' } })).toEqual(agents.fast);
  expect(await choose({ agents }, LEAD)).toEqual(agents.fast);
});

test('else it is the agent of the lead or of a teammate, but never a custom program', async () => {
  expect(await choose({ leadAgent: { kind: 'claude', mode: 'edit' } }, ADMIN, [{ kind: 'codex' }])).toEqual({
    kind: 'claude',
    mode: 'edit',
  });
  expect(await choose({ leadAgent: SCRIPT }, ADMIN, [SCRIPT, { kind: 'codex' }])).toEqual({ kind: 'codex' });
});

test("else it is the daemon's choice, or a refusal if the caller is an agent that leads", async () => {
  expect(await choose({})).toEqual(OURS);
  expect(await choose({ leadAgent: SCRIPT }, ADMIN, [SCRIPT])).toEqual(OURS);
  await expect(choose({ leadAgent: { kind: 'claude' } }, LEAD)).rejects.toThrow('lead has no agents for new teammates');
});

test('a lead sets how hard a teammate thinks and what it reads, but only a person what it can do', async () => {
  const house = await openTeam([], { agents: { fast: { kind: 'codex', effort: 'low', tools: { deny: ['shell'] } } } });
  const { ledger } = house.services;
  const daemon = { defaultAgent: () => OURS } as Parameters<typeof agentForTeammate>[0]['daemon'];
  const start = (caller: Caller, extras: AgentExtras) =>
    agentForTeammate({ ledger, daemon }, caller, { teamId: 'demo', ...UNSAID, extras });
  expect(await start(LEAD, { effort: 'high', skills: ['style.md'] })).toEqual({
    kind: 'codex',
    effort: 'high',
    skills: ['style.md'],
    tools: { deny: ['shell'] },
  });
  await expect(start(LEAD, { tools: { allow: ['shell'] } })).rejects.toThrow('Only a person may choose the tools');
  await expect(start(LEAD, { mcp: { x: { command: ['x'] } } })).rejects.toThrow('Only a person may choose the tools');
  expect(await start(ADMIN, { tools: { allow: ['shell'] } })).toMatchObject({ tools: { allow: ['shell'] } });
});

test('an agent named general-purpose is chosen as the default', async () => {
  const agents = { fast: { kind: 'codex' }, 'general-purpose': { kind: 'claude' } };
  expect(await choose({ agents })).toEqual({ kind: 'claude' });
  expect(await choose({ agents }, LEAD)).toEqual({ kind: 'claude' });
});

test('an agent type chooses an agent only if it is the name of one', async () => {
  const house = await openTeam([], { agents: { fast: { kind: 'codex' } } });
  const choice = (agentType: string, caller: Caller = ADMIN) =>
    house.services.ledger.view('demo', (state) => chooseAgent(state, caller, { agentType }, () => OURS));
  for (const caller of [ADMIN, LEAD]) {
    expect(await choice('a careful reviewer', caller)).toEqual({ kind: 'codex' });
    expect(await choice('fast', caller)).toEqual({ kind: 'codex' });
  }
  expect(await choice('opencode')).toEqual({ kind: 'acp', name: 'opencode' });
  await expect(choice('opencode', LEAD)).rejects.toThrow('lead may start teammates with fast, not with "opencode"');
});

test('a person chooses the sandbox of a teammate; an agent can only close more', async () => {
  const boxed = { kind: 'codex', sandbox: { network: ['github.com'] } };
  const house = await openTeam([], { agents: { open: { kind: 'codex' }, boxed }, leadAgent: { kind: 'claude' } });
  const choice = async (agentType: string, caller: Caller, sandbox?: boolean) =>
    (
      await house.services.ledger.view('demo', (state) =>
        chooseAgent(state, caller, { agentType, sandbox }, () => OURS),
      )
    ).sandbox;
  expect(await choice('open', ADMIN)).toBeUndefined();
  expect(await choice('open', ADMIN, true)).toBe(true);
  expect(await choice('boxed', ADMIN)).toEqual(boxed.sandbox);
  expect(await choice('boxed', ADMIN, false)).toBeUndefined();
  expect(await choice('open', LEAD, true)).toBe(true);
  expect(await choice('boxed', LEAD, false)).toEqual(boxed.sandbox);
});

test('what an agent in a sandbox starts is in a sandbox', async () => {
  const agents = { open: { kind: 'codex' } };
  expect(await choose({ agents, leadAgent: { kind: 'claude', sandbox: true } }, LEAD)).toEqual({
    kind: 'codex',
    sandbox: true,
  });
});

test('only a team file can make a member a team, however it is added', async () => {
  const house = await openTeam([]);
  for (const agent of [{ team: './review/troupe.yaml' }, { kind: 'team' }] as const) {
    for (const operation of ['member.add', 'member.spawn'] as const) {
      await expect(house.call(operation, { teamId: 'demo', name: 'rev', agent })).rejects.toThrow(
        'Only a team file can make a member a team: add agent: { team: ./review/troupe.yaml } there',
      );
    }
  }
  expect(await house.services.ledger.view('demo', ({ members }) => members.has('rev'))).toBe(false);
});

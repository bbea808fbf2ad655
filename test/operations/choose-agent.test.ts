import { expect, test } from 'vitest';
import type { AgentSpec } from '../../src/core/agent.ts';
import { ADMIN } from '../../src/operations/caller.ts';
import type { Caller } from '../../src/operations/caller.ts';
import { chooseAgent } from '../../src/operations/choose-agent.ts';
import { openTeam } from '../mcp/house.ts';

const OURS: AgentSpec = { kind: 'acp', name: 'goose' };
const SCRIPT: AgentSpec = { kind: 'exec', command: ['true'] };
const LEAD: Caller = { scope: 'lead', teamId: 'demo', memberId: 'lead' };
const UNSAID = { agentType: 'general-purpose' };

/** What a caller that says nothing gets in a team that was made like this. */
async function choose(team: object, caller: Caller = ADMIN, others: readonly AgentSpec[] = []): Promise<AgentSpec> {
  const house = await openTeam([], team);
  for (const [at, agent] of others.entries()) {
    await house.call('member.add', { teamId: 'demo', name: `mate-${at}`, agent });
  }
  return house.services.ledger.view('demo', (state) => chooseAgent(state, caller, UNSAID, () => OURS));
}

test('without a word it is the first agent that was set up for the team', async () => {
  const agents = { fast: { kind: 'codex', model: 'small' }, slow: { kind: 'claude' } };
  expect(await choose({ agents, leadAgent: { kind: 'claude' } })).toEqual(agents.fast);
  expect(await choose({ agents }, LEAD)).toEqual(agents.fast);
});

test('else what the lead runs on, or a teammate, but no program that was written for one of them', async () => {
  expect(await choose({ leadAgent: { kind: 'claude', mode: 'edit' } }, ADMIN, [{ kind: 'codex' }])).toEqual({
    kind: 'claude',
    mode: 'edit',
  });
  expect(await choose({ leadAgent: SCRIPT }, ADMIN, [SCRIPT, { kind: 'codex' }])).toEqual({ kind: 'codex' });
});

test("else the daemon's own choice, and for a lead that is an agent nothing", async () => {
  expect(await choose({})).toEqual(OURS);
  expect(await choose({ leadAgent: SCRIPT }, ADMIN, [SCRIPT])).toEqual(OURS);
  await expect(choose({ leadAgent: { kind: 'claude' } }, LEAD)).rejects.toThrow('No agents were set up for lead');
});

test('an agent of the name that stands for nothing is an agent', async () => {
  const agents = { fast: { kind: 'codex' }, 'general-purpose': { kind: 'claude' } };
  expect(await choose({ agents })).toEqual({ kind: 'claude' });
  expect(await choose({ agents }, LEAD)).toEqual({ kind: 'claude' });
});

test('a kind of agent in any words chooses none, the name of one does', async () => {
  const house = await openTeam([], { agents: { fast: { kind: 'codex' } } });
  const choice = (agentType: string, caller: Caller = ADMIN) =>
    house.services.ledger.view('demo', (state) => chooseAgent(state, caller, { agentType }, () => OURS));
  for (const caller of [ADMIN, LEAD]) {
    expect(await choice('a careful reviewer', caller)).toEqual({ kind: 'codex' });
    expect(await choice('fast', caller)).toEqual({ kind: 'codex' });
  }
  expect(await choice('opencode')).toEqual({ kind: 'acp', name: 'opencode' });
  await expect(choice('opencode', LEAD)).rejects.toThrow('lead may bring in fast, not "opencode"');
});

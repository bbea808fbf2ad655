import { describe, expect, test } from 'vitest';
import { AGENTS, findAgent, providerVariables } from '../../src/agents/catalog.ts';
import type { AgentRow } from '../../src/agents/row.ts';

test('an agent that is another way to run a program names the usual one, which can stand in for it', () => {
  for (const [name, { variantOf, needs, versions, canLead }] of Object.entries<AgentRow>(AGENTS)) {
    if (variantOf === undefined) expect([name, needs, versions, canLead]).toEqual([name, undefined, undefined, true]);
    else expect(findAgent(variantOf)).toMatchObject({ program: findAgent(name)?.program, canLead: true });
  }
});

describe('the environment of an agent', () => {
  const ours = {
    ANTHROPIC_API_KEY: 'a',
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: '1',
    CLAUDE_CODE_SESSION_ID: 'of another session',
    OPENAI_API_KEY: 'o',
    AWS_SECRET_ACCESS_KEY: 's',
    GOOGLE_APPLICATION_CREDENTIALS: 'g',
  };

  test('has what its own provider needs, no keys of others, and nothing of another session', () => {
    expect(providerVariables(AGENTS.claude, ours)).toEqual(['ANTHROPIC_API_KEY', 'CLAUDE_CODE_MAX_OUTPUT_TOKENS']);
    expect(providerVariables(AGENTS.codex, ours)).toEqual(['OPENAI_API_KEY']);
  });

  test('has the keys of a cloud when that is its provider, by our environment or by its own', () => {
    const bedrock = providerVariables(AGENTS.claude, { ...ours, CLAUDE_CODE_USE_BEDROCK: '1' });
    expect(bedrock).toContain('AWS_SECRET_ACCESS_KEY');
    expect(bedrock).not.toContain('GOOGLE_APPLICATION_CREDENTIALS');
    const vertex = providerVariables(AGENTS.claude, ours, { CLAUDE_CODE_USE_VERTEX: 'true' });
    expect(vertex).toContain('GOOGLE_APPLICATION_CREDENTIALS');
    expect(vertex).not.toContain('AWS_SECRET_ACCESS_KEY');
    expect(providerVariables(AGENTS.claude, { ...ours, CLAUDE_CODE_USE_BEDROCK: '0' })).not.toContain(
      'AWS_SECRET_ACCESS_KEY',
    );
  });
});

import { describe, expect, test } from 'vitest';
import { AGENTS, explainUnknown, findAgent, providerVariables } from '../../src/agents/catalog.ts';
import type { AgentRow } from '../../src/agents/row.ts';

test('a variant of an agent names the usual agent, which runs the same program', () => {
  for (const [name, { variantOf, needs, versions }] of Object.entries<AgentRow>(AGENTS)) {
    if (variantOf === undefined) expect([name, needs, versions]).toEqual([name, undefined, undefined]);
    else expect(findAgent(variantOf)).toMatchObject({ program: findAgent(name)?.program });
  }
});

test.each([
  ['claude', undefined],
  ['cluade', /did you mean claude\?/],
  ['constructor', /^There is no agent named "constructor": choose one of claude, /],
  ['exec', /^The agent exec is any program: name it, as in \{"exec": /],
  ['function', /^The agent function is a function in this process: give it to the library$/],
])('the name %s alone is answered with %s', (name, answer) => {
  const told = explainUnknown(name);
  if (answer === undefined) expect(told).toBeUndefined();
  else expect(told).toMatch(answer);
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

  test('has the variables of its own provider, no keys of others, and nothing of another session', () => {
    expect(providerVariables(AGENTS.claude, ours)).toEqual(['ANTHROPIC_API_KEY', 'CLAUDE_CODE_MAX_OUTPUT_TOKENS']);
    expect(providerVariables(AGENTS.codex, ours)).toEqual(['OPENAI_API_KEY']);
  });

  test('has the keys of a cloud that our environment or its own chooses as provider', () => {
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

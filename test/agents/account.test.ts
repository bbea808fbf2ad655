import { describe, expect, test } from 'vitest';
import { accountOf } from '../../src/agents/account.ts';
import { agentNamed } from '../../src/core/agent-kinds.ts';

const HOME = '/home/ann';

function nameOf(agent: string, env: Record<string, string> = {}, machine?: string): string | undefined {
  return accountOf(agentNamed(agent), { memberId: 'ada', env: { HOME, ...env }, home: HOME, machine });
}

describe('an account', () => {
  test('of the usual login is named after its agent, however that is run', () => {
    expect(['claude', 'claude-native', 'claude-agent-acp'].map((agent) => nameOf(agent))).toEqual(
      Array.from({ length: 3 }, () => 'claude'),
    );
    expect(['codex', 'codex-acp'].map((agent) => nameOf(agent))).toEqual(['codex', 'codex']);
    expect(['gemini', 'opencode', 'goose'].map((agent) => nameOf(agent))).toEqual(['gemini', 'opencode', 'goose']);
    expect(nameOf('claude', { CLAUDE_CONFIG_DIR: `${HOME}/.claude/` })).toBe('claude');
  });

  test('of another login is named after the folder that holds it', () => {
    expect(nameOf('claude', { CLAUDE_CONFIG_DIR: `${HOME}/.claude-second` })).toBe('claude@second');
    expect(nameOf('codex', { CODEX_HOME: `${HOME}/.codex_work` })).toBe('codex@work');
    const [a, b] = ['/a/.claude-second', '/b/.claude-second'].map((CLAUDE_CONFIG_DIR) =>
      nameOf('claude', { CLAUDE_CONFIG_DIR }),
    );
    expect(a).toMatch(/^claude@second-[0-9a-f]{6}$/);
    expect(b).not.toBe(a);
    expect(nameOf('claude', { HOME: '/home/bob' })).toMatch(/^claude@at-[0-9a-f]{6}$/);
  });

  test('of a key in the environment is named by a fingerprint, which does not contain it', () => {
    const first = nameOf('claude', { ANTHROPIC_API_KEY: 'abcdef123456' });
    expect(first).toMatch(/^claude@env-[0-9a-f]{6}$/);
    expect(nameOf('claude', { ANTHROPIC_API_KEY: 'abcdef123456' })).toBe(first);
    expect(nameOf('claude', { ANTHROPIC_API_KEY: 'abcdef123457' })).not.toBe(first);
    expect(nameOf('claude', { OPENAI_API_KEY: 'abcdef123456' })).toBe('claude');
  });

  test('has the name that a person gave it, on every machine; others are those of their machine', () => {
    expect(nameOf('claude@second', {}, 'box')).toBe('claude@second');
    expect(nameOf('claude', {}, 'box')).toBe('claude/box');
    expect(nameOf('claude', {}, 'local')).toBe('claude');
  });

  test('of a function is its own; a program has none', () => {
    const around = { memberId: 'ada', env: {}, home: HOME };
    expect(accountOf({ kind: 'function', name: 'mine' }, around)).toBe('function@ada');
    expect(accountOf({ kind: 'exec', command: ['make'] }, around)).toBeUndefined();
  });
});

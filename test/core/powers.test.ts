import { expect, test } from 'vitest';
import type { AgentSpec } from '../../src/core/agent.ts';
import { commandLineOf, powersOf } from '../../src/core/powers.ts';
import type { Powers } from '../../src/core/powers.ts';

test.each<AgentSpec>([
  { kind: 'claude', model: 'opus', mode: 'edit', permissions: { deny: ['WebFetch'] } },
  { kind: 'function', mode: 'full' },
])('%j needs no approval', (spec) => {
  expect(powersOf(spec)).toBeUndefined();
});

const NOTHING = { env: [], servers: [], isFree: false, allow: [] };

test.each<[AgentSpec, Powers]>([
  [
    { kind: 'exec', command: ['/bin/sh', '-c', 'npm test && x'] },
    { ...NOTHING, command: 'npm test && x' },
  ],
  [
    { kind: 'exec', command: ['my prog', '-v'] },
    { ...NOTHING, command: "'my prog' -v" },
  ],
  [
    { kind: 'acp', name: 'gemini', args: ["it's"] },
    { ...NOTHING, command: "gemini 'it'\\''s'" },
  ],
  [
    { kind: 'claude', mode: 'full' },
    { ...NOTHING, command: 'claude', isFree: true },
  ],
  [
    { kind: 'claude', env: { B: '2', A: '1' } },
    { ...NOTHING, command: 'claude', env: ['A=1', 'B=2'] },
  ],
  [
    { kind: 'claude', permissions: { allow: ['Bash'] } },
    { ...NOTHING, command: 'claude', allow: ['Bash'] },
  ],
  [
    {
      kind: 'claude',
      mcp: {
        docs: { command: ['docs', 'a b'], env: { K: 'v' } },
        api: { url: 'https://a.example/', headers: { Auth: 'x' } },
      },
    },
    { ...NOTHING, command: 'claude', servers: ["docs: docs 'a b' K=v", 'api: https://a.example/ Auth=x'] },
  ],
])('%j has powers that a person approves', (spec, powers) => {
  expect(powersOf(spec)).toEqual(powers);
});

test('a command is shown as a person would type it', () => {
  expect(commandLineOf({ kind: 'codex', args: ['--flag', 'a b'] })).toBe("codex --flag 'a b'");
});

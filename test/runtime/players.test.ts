import { expect, test } from 'vitest';
import { AGENTS } from '../../src/agents/catalog.ts';
import { DaemonConfig } from '../../src/runtime/config.ts';
import type { InstalledAgent } from '../../src/runtime/installed-agents.ts';
import { choosePlayers } from '../../src/runtime/players.ts';

test('installed agents play the native teammates named after them; Claude Code plays the rest without being named', () => {
  const installed = Object.entries(AGENTS).map(([name, row]): InstalledAgent => ({
    ...row,
    name,
    path: `/bin/${name}`,
  }));
  const patterns = choosePlayers({}, {}, installed).map(({ pattern }) => pattern);
  expect(patterns).toEqual(expect.arrayContaining(['codex', 'codex-*', 'codex-acp', 'gemini', 'copilot-*']));
  expect(patterns.filter((pattern) => /claude/.test(pattern))).toEqual([]);
});

test('an agent that is not installed plays nobody unless somebody chose it', () => {
  const missing: InstalledAgent[] = [{ ...AGENTS.codex, name: 'codex' }];
  expect(choosePlayers({}, {}, missing)).toEqual([]);
  expect(choosePlayers({ 'reviewer-*': 'codex' }, {}, missing)).toEqual([
    { pattern: 'reviewer-*', agent: { kind: 'codex' }, source: 'command line' },
  ]);
});

test('a misspelled agent is refused', () => {
  const said = 'There is no agent named "codx": did you mean codex?';
  expect(() => choosePlayers({ tester: 'codx' }, {}, [])).toThrow(said);
  const inConfig = (tester: string | object) => choosePlayers({}, DaemonConfig.parse({ teammates: { tester } }), []);
  expect(() => inConfig('codx')).toThrow(`teammates of config.yaml: tester: ${said}`);
  for (const own of [{ agent: { exec: './check.sh' } }, { agent: { acp: 'codx --acp' } }]) {
    expect(inConfig(own)).toMatchObject([{ pattern: 'tester', source: 'config.yaml' }]);
  }
});

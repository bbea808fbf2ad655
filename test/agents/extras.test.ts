import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ACP_AGENTS } from '../../src/agents/acp/agents.ts';
import { environmentFor } from '../../src/agents/acp/environment.ts';
import type { Mode } from '../../src/agents/agent.ts';
import { AGENTS, NAMELESS } from '../../src/agents/catalog.ts';
import { threadSettings } from '../../src/agents/codex/settings.ts';
import type { AgentRow } from '../../src/agents/row.ts';
import { teammateArguments } from '../../src/bridge/hosted/arguments.ts';
import { AgentSpec } from '../../src/core/agent.ts';
import { SKILL_BYTES } from '../../src/core/limits.ts';
import { namesTaken } from '../../src/core/variables.ts';
import { serversOf } from '../../src/teammate/environment.ts';
import { readSkills, requireExtras } from '../../src/teammate/extras.ts';
import { defaultStart } from '../contracts/agent.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A value of each extra, by its field. */
const WISHES = {
  effort: { effort: 'high' },
  mcp: { mcp: { docs: { command: ['docs-mcp'] } } },
  skills: { skills: ['docs/style.md'] },
  tools: { tools: { deny: ['web_search'] } },
} as const;

const ROWS: Readonly<Record<string, AgentRow>> = { ...AGENTS, ...NAMELESS };

test('each agent takes an extra, or refuses it with the reason; none ignores it', () => {
  const answers = Object.entries(ROWS).map(([name, row]) => {
    const taken = Object.entries(WISHES).flatMap(([field, wish]) => {
      try {
        requireExtras({ kind: row.kind, ...wish } as AgentSpec, row);
        return [field];
      } catch (error) {
        expect(String(error)).toMatch(new RegExp(`${field} is not for .*: \\S+`));
        return [];
      }
    });
    return [name, taken.join(' ')];
  });
  expect(Object.fromEntries(answers)).toEqual({
    claude: 'effort mcp skills tools',
    'claude-native': 'effort skills tools',
    codex: 'effort mcp skills tools',
    gemini: 'mcp skills',
    opencode: 'mcp skills tools',
    ...Object.fromEntries(
      ['codex-acp', 'claude-agent-acp', 'goose', 'qwen', 'kimi', 'copilot', 'acp'].map((name) => [name, 'mcp skills']),
    ),
    exec: '',
    function: '',
    team: '',
  });
});

test('a value that an agent does not have is refused with those that it has', () => {
  const wish = (spec: Partial<AgentSpec>) => () => requireExtras({ kind: 'codex', ...spec }, AGENTS.codex);
  expect(wish({ effort: 'max' })).toThrow(/effort "max" is unknown to Codex: choose from none, minimal, low/);
  expect(wish({ tools: { allow: ['shell', 'Bash'] } })).toThrow(/tools "Bash" is unknown to Codex: choose from shell/);
  expect(wish({ effort: 'low', tools: { allow: ['shell'] } })).not.toThrow();
});

test.each([
  { mcp: { troupe: { command: ['x'] } } },
  { mcp: { docs: { url: 'file:///etc/passwd' } } },
  { mcp: { docs: { url: 'https://a.b', headers: { 'X-Key': 'a\r\nHost: c' } } } },
  { mcp: { docs: { command: [] } } },
  { skills: ['/etc/passwd'] },
  { skills: ['docs/../../secret'] },
  { tools: { deny: ['a,--dangerously-skip-permissions'] } },
  { effort: '--model=x' },
])('%o is refused', (wish) => {
  expect(AgentSpec.safeParse({ kind: 'claude', ...wish }).success).toBe(false);
});

test('servers take their secrets from the environment, and the names of these are known', () => {
  const mcp = {
    docs: { command: ['docs-mcp'], env: { KEY: '${DOCS_KEY}' } },
    api: { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ${API_TOKEN}' } },
  };
  expect(namesTaken({ mcp })).toEqual(['DOCS_KEY', 'API_TOKEN']);
  expect(serversOf({ mcp }, { DOCS_KEY: 'k1', API_TOKEN: 't1' })).toEqual({
    docs: { command: ['docs-mcp'], env: { KEY: 'k1' } },
    api: { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer t1' } },
  });
});

test('Codex has own servers only in modes that allow changes, and never the tools that were taken away', () => {
  const extras = { servers: { docs: { command: ['docs-mcp', '-v'] } }, effort: 'low', ownTools: { allow: ['shell'] } };
  expect(threadSettings({ ...defaultStart(), ...extras, mode: 'edit' }, ['theirs'])).toMatchObject({
    config: {
      model_reasoning_effort: 'low',
      include_apply_patch_tool: false,
      web_search: 'disabled',
      features: { multi_agent: false },
      mcp_servers: { docs: { command: 'docs-mcp', args: ['-v'], enabled: true } },
    },
  });
  expect(threadSettings({ ...defaultStart(), ...extras, mode: 'plan' }, ['theirs'])).toMatchObject({
    config: { web_search: 'disabled', mcp_servers: { theirs: { enabled: false } } },
  });
  expect(threadSettings({ ...defaultStart(), ...extras, mode: 'plan' }, [])).not.toHaveProperty(
    'config.mcp_servers.docs',
  );
});

test.each<[Mode, NonNullable<AgentSpec['tools']>, Readonly<Record<string, string>>]>([
  ['edit', { allow: ['bash'] }, { bash: 'ask', webfetch: 'deny', 'docs_*': 'allow' }],
  ['edit', { deny: ['webfetch'] }, { bash: 'ask', webfetch: 'deny', 'docs_*': 'allow' }],
  ['full', { allow: ['bash'] }, { bash: 'allow', edit: 'deny', 'docs_*': 'allow' }],
  ['plan', { allow: ['bash', 'read'] }, { bash: 'deny', read: 'allow', 'docs_*': 'deny' }],
  ['delegate', { allow: ['bash'] }, { bash: 'deny', 'docs_*': 'deny' }],
])('OpenCode in %s mode with tools %o decides %o', (mode, ownTools, expected) => {
  const start = { ...defaultStart(), servers: { docs: { command: ['docs-mcp'] } }, ownTools, mode };
  const { OPENCODE_CONFIG_CONTENT: text = '' } = environmentFor(ACP_AGENTS.opencode, start);
  const { permission } = JSON.parse(text) as { permission: Record<string, string> };
  const decided = Object.keys(expected).map((tool) => [tool, permission[tool] ?? permission['*'] ?? 'allow']);
  expect(Object.fromEntries(decided)).toEqual(expected);
});

test('Claude Code in a terminal keeps the tools of its team, whatever it may use', () => {
  const who = { member: 'ann', team: 'demo', color: 'blue', leadSessionId: 'l', sessionId: 's', resumes: false };
  const given = { ...who, mode: 'edit' as const, model: undefined, effort: 'max' };
  const words = teammateArguments({ ...given, ownTools: { allow: ['Read'], deny: ['Bash'] } });
  expect(words).toEqual(expect.arrayContaining(['--effort', 'max', '--disallowedTools=Bash']));
  expect(words.find((word) => word.startsWith('--tools='))).toMatch(/^--tools=Read,SendMessage,/);
});

test('skills are read from the first folder that has them, a folder by its SKILL.md', () => {
  const [theirs, ours] = [temporaryFolder(), temporaryFolder()];
  for (const folder of [theirs, ours]) mkdirSync(join(folder, 'review'));
  writeFileSync(join(theirs, 'style.md'), 'the style of the person');
  writeFileSync(join(ours, 'style.md'), 'the style of an agent');
  writeFileSync(join(ours, 'review/SKILL.md'), 'how to review');
  expect(readSkills(['style.md', 'review'], [theirs, ours])).toEqual(['the style of the person', 'how to review']);
});

test('skills that are missing, too long or elsewhere are refused', () => {
  const folder = temporaryFolder();
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'secret'), 'secret');
  symlinkSync(join(outside, 'secret'), join(folder, 'link.md'));
  writeFileSync(join(folder, 'long.md'), 'x'.repeat(SKILL_BYTES + 1));
  expect(() => readSkills(['none.md'], [folder])).toThrow(/no file "none.md" in .*: skills names it/);
  expect(() => readSkills(['link.md'], [folder])).toThrow('leads out of');
  expect(() => readSkills(['long.md'], [folder])).toThrow(`a skill may have ${SKILL_BYTES}`);
});

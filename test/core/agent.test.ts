import { expect, test } from 'vitest';
import { AgentInput } from '../../src/core/agent-input.ts';
import {
  agentNamed,
  catalogNameOf,
  hasAccount,
  hasProcess,
  isNativeAgent,
  isOwnAgent,
  isTeamAgent,
  requireTeamFile,
} from '../../src/core/agent-kinds.ts';
import { AgentExtras, AgentSpec } from '../../src/core/agent.ts';
import { parse } from '../../src/core/parse.ts';
import { argvOf, shellTextOf } from '../../src/core/shell.ts';
import { fillIn, namesTaken } from '../../src/core/variables.ts';

test.each([
  ['claude', { kind: 'claude' }],
  ['claude@second', { kind: 'claude', account: 'second' }],
  ['gemini', { kind: 'acp', name: 'gemini' }],
  // People do not ask for these by their kind.
  ['exec', { kind: 'acp', name: 'exec' }],
])('the agent that people call %s', (text, spec) => {
  expect(agentNamed(text)).toStrictEqual(spec);
  expect(AgentInput.parse(text)).toEqual(spec);
});

test.each([
  [{ exec: 'npm test' }, { kind: 'exec', command: ['/bin/sh', '-c', 'npm test'] }],
  [
    { kind: 'exec', command: ['a b', 'c'] },
    { kind: 'exec', command: ['a b', 'c'] },
  ],
  [{ exec: ['node', 'a.js'] }, { kind: 'exec', command: ['node', 'a.js'] }],
  [{ acp: ['my-agent'] }, { kind: 'acp', command: ['my-agent'] }],
  [
    { kind: 'claude', command: 'claude --x' },
    { kind: 'claude', command: ['/bin/sh', '-c', 'claude --x'] },
  ],
  [{ kind: 'codex' }, { kind: 'codex' }],
  // The texts of its files are missing, and `requireTeamFile` says so.
  [{ team: './review/troupe.yaml' }, { kind: 'team' }],
])('an agent may be written as %j', (given, spec) => {
  expect(AgentInput.parse(given)).toStrictEqual(spec);
});

test.each([null, 7, ['claude']])('%j is no agent', (given) => {
  expect(AgentInput.safeParse(given).success).toBe(false);
});

test('only a team file can make a member a team', () => {
  expect(() => requireTeamFile({ kind: 'team' })).toThrow('Only a team file can make a member a team');
  requireTeamFile({ kind: 'team', team: { path: '/a/troupe.yaml', folder: '/a', files: {} } });
  requireTeamFile({ kind: 'claude' });
  requireTeamFile(undefined);
});

test('a text is a shell command, a list a program with its arguments', () => {
  expect(shellTextOf(argvOf('a && b'))).toBe('a && b');
  expect(shellTextOf(argvOf(['node', '-c', 'x']))).toBeUndefined();
  expect(shellTextOf(['/bin/sh', 'script.sh'])).toBeUndefined();
});

test('variables take values from the environment by name; unknown names become empty', () => {
  const values: Record<string, string> = { TOKEN: 'secret' };
  expect(fillIn('Bearer ${TOKEN}${NONE} $TOKEN', (name) => values[name])).toBe('Bearer secret $TOKEN');
  const taken = namesTaken({
    env: { A: '${TOKEN}/${HOME}', B: 'plain' },
    mcp: {
      api: { url: 'https://a.example', headers: { Authorization: '${KEY}' } },
      docs: { command: ['docs'], env: { X: '${DOCS}' } },
      bare: { command: ['bare'] },
    },
  });
  expect(taken).toEqual(['TOKEN', 'HOME', 'KEY', 'DOCS']);
  expect(namesTaken({})).toEqual([]);
});

test('the catalog knows an ACP agent by its own name, others by their kind', () => {
  expect(catalogNameOf({ kind: 'acp', name: 'gemini' })).toBe('gemini');
  expect(catalogNameOf({ kind: 'acp' })).toBe('acp');
  expect(catalogNameOf({ kind: 'claude', name: 'gemini' })).toBe('claude');
});

test('people write programs, functions and teams themselves', () => {
  const kinds = AgentSpec.shape.kind.options;
  expect(kinds.filter((kind) => isOwnAgent({ kind }))).toEqual(['exec', 'function', 'team']);
});

test('servers and skills stay within their bounds', () => {
  const read = (given: unknown) => parse(AgentExtras, given);
  const good = { mcp: { docs: { command: ['docs'] } }, skills: ['docs/style.md'] };
  expect(read(good)).toEqual(good);
  expect(() => read({ mcp: { troupe: { command: ['docs'] } } })).toThrow(
    'mcp.troupe: is the server of the team itself: choose another name than troupe',
  );
  expect(() => read({ mcp: { 'My Docs': { command: ['docs'] } } })).toThrow('mcp.My Docs: "My Docs" is not a name');
  expect(() => read({ mcp: ['docs'] })).toThrow('mcp: must be a map of servers by name');
  for (const path of ['/etc/passwd', '../secret', 'docs/../../secret']) {
    expect(() => read({ skills: [path] })).toThrow('skills.0: must be below the folder');
  }
});

// What a kind is not is false.
test.each([
  ['exec', { process: true, own: true }],
  ['function', { own: true, account: true }],
  ['claude', { process: true, named: true, account: true }],
  ['codex', { process: true, named: true, account: true }],
  ['acp', { process: true, account: true }],
  ['claude-native', { process: true, named: true, account: true, native: true }],
  ['team', { process: true, own: true, team: true }],
] as const)('what rules know of the kind %s', (kind, expected) => {
  const agent = { kind };
  const none = { process: false, own: false, named: false, account: false, native: false, team: false };
  expect({
    process: hasProcess(agent),
    own: isOwnAgent(agent),
    named: agentNamed(kind).kind === kind && catalogNameOf(agentNamed(kind)) === kind && !('name' in agentNamed(kind)),
    account: hasAccount(agent),
    native: isNativeAgent(agent),
    team: isTeamAgent(agent),
  }).toEqual({ ...none, ...expected });
});

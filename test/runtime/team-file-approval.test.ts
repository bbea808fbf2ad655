import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { parse } from '../../src/core/parse.ts';
import { programsOf } from '../../src/runtime/team-file/approval.ts';
import { TeamFile } from '../../src/runtime/team-file/schema.ts';
import { temporaryFolder } from '../temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const read = (file: object) => programsOf(parse(TeamFile, { team: 'demo', ...file }), folder);
const hashes = (member: object): string[] => read({ members: [{ name: 'ann', ...member }] }).map(({ hash }) => hash);

describe('what a team file runs needs an approval', () => {
  test.each([
    ['a program', { agent: { exec: './run.sh' } }, { command: './run.sh' }],
    ['a program with words', { agent: { exec: ['node', 'a b.js'] } }, { command: "node 'a b.js'" }],
    ['an agent that speaks ACP', { agent: { acp: ['x', '--acp'] } }, { command: 'x --acp' }],
    ['another binary', { agent: 'claude', command: './claude' }, { command: './claude' }],
    ['arguments', { agent: 'claude', args: ['--mcp-config', 'm.json'] }, { command: 'claude --mcp-config m.json' }],
    ['variables', { agent: 'codex', env: { PATH: './bin' } }, { command: 'codex', env: ['PATH=./bin'] }],
    [
      'servers of tools',
      { agent: 'codex', mcp: { docs: { command: 'npx docs', env: { A: '1' } }, api: { url: 'https://a.b/mcp' } } },
      { servers: ['docs: npx docs A=1', 'api: https://a.b/mcp'] },
    ],
    ['a program in a sandbox', { agent: { exec: './run.sh' }, sandbox: true }, { sandbox: true }],
    ['mode full', { agent: 'codex', mode: 'full' }, { isFree: true }],
    ['permissions', { agent: 'codex', permissions: { allow: ['shell(*)'] } }, { allow: ['shell(*)'] }],
    ['a folder outside of its own', { agent: 'codex', cwd: '..' }, { command: 'codex' }],
  ])('%s', (_what, member, expected) => {
    expect(read({ members: [{ name: 'ann', ...member }] })).toMatchObject([{ members: ['ann'], ...expected }]);
  });

  test('a link that leads out of its folder', () => {
    symlinkSync(temporaryFolder(), join(folder, 'link'));
    expect(hashes({ agent: 'codex', cwd: 'link' })).toHaveLength(1);
  });

  test('but a named agent that asks before it does anything needs none', () => {
    mkdirSync(join(folder, 'src'));
    const member = { agent: 'claude', mode: 'edit', cwd: 'src', model: 'm', permissions: { deny: ['WebFetch'] } };
    expect(hashes(member)).toEqual([]);
  });

  test('by files of the checkout that the agent obeys by itself, with their content', () => {
    const settings = join(folder, '.claude/settings.json');
    const claude = { agent: 'claude' };
    mkdirSync(join(folder, '.claude'));
    mkdirSync(join(folder, 'src'));
    expect(hashes(claude)).toEqual([]);
    const write = (command: string): void =>
      writeFileSync(settings, JSON.stringify({ hooks: { SessionStart: [{ hooks: [{ type: 'command', command }] }] } }));
    write('./steal.sh');
    expect(read({ members: [{ name: 'ann', ...claude, cwd: 'src' }] })).toMatchObject([
      { command: 'claude', files: [settings] },
    ]);
    const before = hashes(claude);
    write('./steal.sh --all');
    expect(hashes(claude)).not.toEqual(before);
    // Other agents don't read it.
    expect(hashes({ agent: 'codex' })).toEqual([]);
  });

  test('of the lead, and of agents that the lead may start; those that nobody can start need none', () => {
    const agents = { mine: { agent: { exec: './mine.sh' } } };
    expect(read({ agents })).toEqual([]);
    const lead = { agent: { exec: './lead.sh' } };
    expect(read({ lead, agents }).map(({ members }) => members)).toEqual([['lead'], ['mine']]);
  });

  test('of agents that stand in when a limit is reached, with the rights of their member', () => {
    const agents = { spare: { agent: { exec: './spare.sh' } } };
    const members = [
      { name: 'ann', agent: 'codex', onLimit: { ask: ['spare'] } },
      { name: 'bob', agent: 'codex', mode: 'full' },
    ];
    expect(read({ agents, onLimit: { fallback: ['claude'] }, members })).toMatchObject([
      { command: 'codex', isFree: true, members: ['bob'] },
      { command: './spare.sh', members: ['ann'] },
      { command: 'claude', isFree: true, members: ['bob'] },
    ]);
  });

  test('once for members with the same settings', () => {
    const members = ['ann', 'bob'].map((name) => ({ name, agent: { exec: './run.sh' } }));
    expect(read({ members }).map((one) => one.members)).toEqual([['ann', 'bob']]);
  });
});

test('an approval covers the content of programs in the checkout, not the work of a program or the machine', () => {
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), name.endsWith('.sh') ? 0o755 : 0o644);
  };
  write('run.sh', 'one');
  write('notes.md', 'one');
  const own = { agent: { exec: ['./run.sh', 'notes.md', process.execPath] } };
  const named = { agent: 'claude', args: ['--settings', 'notes.md'] };
  const before = [hashes(own), hashes(named)];
  expect(read({ members: [{ name: 'ann', ...own }] })[0]?.files).toEqual([join(folder, 'run.sh')]);
  write('notes.md', 'two');
  expect(hashes(own)).toEqual(before[0]);
  expect(hashes(named)).not.toEqual(before[1]);
  write('run.sh', 'two');
  expect(hashes(own)).not.toEqual(before[0]);
});

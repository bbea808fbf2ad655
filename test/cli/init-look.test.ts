import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { lookAtProject } from '../../src/cli/commands/init/look.ts';
import type { FoundAgent } from '../../src/cli/commands/init/project-file.ts';
import { ABOUT, writeTemplate } from '../../src/cli/commands/init/templates.ts';
import type { TemplateName } from '../../src/cli/commands/init/templates.ts';
import { parseTeamFile } from '../../src/runtime/team-file/parse.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const PACKAGE = '{ "scripts": { "test": "x" } }';

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

test.each<[what: string, files: Record<string, string>, check: string | undefined, setup?: string]>([
  ['npm', { 'package.json': PACKAGE }, 'npm test'],
  ['a lock file of npm', { 'package.json': PACKAGE, 'package-lock.json': '{}' }, 'npm test', 'npm ci'],
  [
    'packages, no lock',
    { 'package.json': '{"scripts":{"test":"x"},"devDependencies":{"a":"1"}}' },
    'npm test',
    'npm install',
  ],
  ['pnpm', { 'package.json': PACKAGE, 'pnpm-lock.yaml': '' }, 'pnpm test', 'pnpm install --frozen-lockfile'],
  ['yarn', { 'package.json': PACKAGE, 'yarn.lock': '' }, 'yarn test', 'yarn install'],
  ['bun', { 'package.json': PACKAGE, 'bun.lock': '' }, 'bun run test', 'bun install --frozen-lockfile'],
  ['a named manager', { 'package.json': '{"packageManager":"pnpm@9.0.0","scripts":{"test":"x"}}' }, 'pnpm test'],
  ['a strange manager', { 'package.json': '{"packageManager":"rm -rf /","scripts":{"test":"x"}}' }, 'npm test'],
  ['what npm init writes', { 'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\""}}' }, undefined],
  ['tests of another tool', { 'package.json': '{}', 'Cargo.toml': '' }, 'cargo test'],
  ['Go', { 'go.mod': 'module x' }, 'go test ./...'],
  ['pytest', { 'pyproject.toml': '[tool.pytest.ini_options]' }, 'pytest'],
  ['uv', { 'pyproject.toml': 'dev = ["pytest"]', 'uv.lock': '' }, 'uv run pytest'],
  ['poetry', { 'pytest.ini': '', 'poetry.lock': '' }, 'poetry run pytest', 'poetry install'],
  ['Python without pytest', { 'pyproject.toml': '' }, undefined],
  ['Gradle', { gradlew: '' }, './gradlew test'],
  ['make', { Makefile: 'all:\n\ntest: all\n' }, 'make test'],
  ['make without tests', { Makefile: 'all:\n' }, undefined],
  ['nothing', {}, undefined],
])('finds the tests of a project: %s', (_what, files, check, setup) => {
  const found = lookAtProject(folderWith(files));
  expect([found.check, found.setup]).toEqual([check, setup]);
});

test('sees a repository in a folder above, and in a worktree', () => {
  expect(lookAtProject(join(folderWith({ '.git': 'gitdir: elsewhere', 'a/b/c': '' }), 'a/b')).isRepository).toBe(true);
});

const AGENTS: readonly FoundAgent[] = [
  { name: 'claude', path: '/bin/claude', loginState: 'none', loginCommand: 'claude /login' },
  { name: 'codex' },
];

const HOSTILE = 'x\n"\'`$(touch owned): [}{]\n- name: evil\nhooks:\n  TaskCompleted: { command: rm }\n# \u0000\u2028';

test.each<[what: string, files: Record<string, string>, check: string | undefined]>([
  ['garbage', { 'package.json': '{{{"test": ' }, undefined],
  ['another kind of JSON', { 'package.json': '["scripts", "test"]' }, undefined],
  ['scripts of another kind', { 'package.json': '{"scripts":["test"]}' }, undefined],
  ['a test of another kind', { 'package.json': '{"scripts":{"test":{"x":1}}}' }, undefined],
  ['the prototype', { 'package.json': '{"__proto__":{"scripts":{"test":"x"}}}' }, undefined],
  ['a huge file', { 'package.json': `{"scripts":{"test":"${'x'.repeat(2_000_000)}"}}` }, undefined],
  [
    'a script that looks like a team file',
    { 'package.json': JSON.stringify({ scripts: { test: HOSTILE } }) },
    'npm test',
  ],
  ['a hostile name', { 'package.json': JSON.stringify({ name: HOSTILE, scripts: { test: 'x' } }) }, 'npm test'],
  [
    'a hostile manager',
    { 'package.json': JSON.stringify({ packageManager: `npm@${HOSTILE}`, scripts: { test: 'x' } }) },
    'npm test',
  ],
  ['a folder', { 'package.json/x': '' }, undefined],
])('lets nothing of a file into the team file: %s', (_what, files, check) => {
  const folder = folderWith(files);
  const project = lookAtProject(folder);
  expect(project.check).toBe(check);
  const file = join(folder, 'troupe.yaml');
  for (const agents of [[], AGENTS]) {
    const text = writeTemplate('project', { team: 'shop', agents, schema: './schema.json', project });
    expect(text).not.toMatch(/evil|owned|rm\b/);
    const { hooks, members } = parseTeamFile(text, file);
    expect([hooks?.TaskCompleted].flat()[0]?.command).toBe(check);
    expect(members.map(({ name }) => name)).toEqual(['builder', 'reviewer']);
  }
});

test('does not wait for a pipe that is named as a file of a project', () => {
  const folder = temporaryFolder();
  expect(spawnSync('mkfifo', [join(folder, 'package.json'), join(folder, 'Makefile')]).status).toBe(0);
  expect(lookAtProject(folder).check).toBeUndefined();
});

test('writes files that troupe up takes, of every template for every kind of project', () => {
  const projects = [{}, { 'package.json': PACKAGE, 'yarn.lock': '', '.git': '' }, { 'go.mod': '', '.git': '' }];
  for (const project of projects.map((files) => lookAtProject(folderWith(files)))) {
    for (const template of Object.keys(ABOUT) as TemplateName[]) {
      for (const agents of [[], AGENTS.slice(0, 1), AGENTS]) {
        const text = writeTemplate(template, { team: '2026', agents, schema: './schema.json', project });
        expect(parseTeamFile(text, 't.yaml').team, template).toBe('2026');
      }
    }
  }
});

test('explains each line of the file for a project', () => {
  const project = lookAtProject(folderWith({ 'package.json': PACKAGE, 'package-lock.json': '', '.git': '' }));
  const text = writeTemplate('project', { team: 'shop', agents: AGENTS, schema: './schema.json', project });
  expect(text).toContain('claude (not logged in: run claude /login), codex (not installed here)');
  for (const key of ['agent', 'mode', 'needs', 'setup', 'command', 'timeout', 'onFailure', 'budget']) {
    expect(text, key).toMatch(new RegExp(`^ *${key}: .+ # \\w+`, 'm'));
  }
});

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { lookAtProject } from '../../src/cli/commands/init/look.ts';
import type { Project } from '../../src/cli/commands/init/look.ts';
import type { FoundAgent } from '../../src/cli/commands/init/project-file.ts';
import { ABOUT, writeTemplate } from '../../src/cli/commands/init/templates.ts';
import type { TemplateName } from '../../src/cli/commands/init/templates.ts';
import { parseTeamFile } from '../../src/runtime/team-file/parse.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { plainGit } from '../workspaces/project.ts';

const PACKAGE = '{ "scripts": { "test": "x" } }';

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Looks at a folder on a machine that has the programs of all projects. */
function look(folder: string): Project {
  const bin = folderWith(Object.fromEntries(PROGRAMS.map((name) => [name, '#!/bin/sh\n'])));
  for (const name of PROGRAMS) chmodSync(join(bin, name), 0o755);
  return lookAtProject(folder, { PATH: `${bin}:/usr/bin:/bin` });
}

const PROGRAMS = ['bun', 'cargo', 'go', 'make', 'npm', 'pnpm', 'poetry', 'pytest', 'uv', 'yarn'];

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
  const found = look(folderWith(files));
  expect([found.check, found.setup]).toEqual([check, setup]);
});

test('sees a repository in a folder above and in a worktree, and none where a folder only looks like one', () => {
  const folder = folderWith({ 'main/a/b/c': '', '.git/x': '' });
  const main = join(folder, 'main');
  expect(look(join(main, 'a/b')).isRepository).toBe(false);
  plainGit(main, 'init', '-q', '-b', 'main');
  expect(look(join(main, 'a/b')).isRepository).toBe(true);
  plainGit(main, 'commit', '-q', '--allow-empty', '-m', 'Empty');
  plainGit(main, 'worktree', 'add', '-q', join(folder, 'tree'));
  expect(look(join(folder, 'tree')).isRepository).toBe(true);
  // Without git, no member can have a copy.
  expect(lookAtProject(main, { PATH: '' }).isRepository).toBe(false);
});

test.each<[files: Record<string, string>, name: string | undefined]>([
  [{ 'package.json': '{"name":"@acme/shop"}' }, '@acme/shop'],
  [{ 'package.json': '{"name":""}', 'Cargo.toml': '[package]\nname = "crab"\n' }, 'crab'],
  [{ 'pyproject.toml': '[tool.x]\nname = "other"\n[project]\nversion = "1"\nname = \'snake\'\n' }, 'snake'],
  [{ 'pyproject.toml': '[tool.poetry]\nname="poem"' }, 'poem'],
  [{ 'Cargo.toml': '[[bin]]\nname = "tool"\n' }, undefined],
  [{ 'package.json': '{"name":["x"]}' }, undefined],
])('finds what a project calls itself: %o', (files, name) => {
  expect(look(folderWith(files)).name).toBe(name);
});

test('writes no gate whose program is not installed, and says so', () => {
  const folder = folderWith({ 'pyproject.toml': 'pytest', 'poetry.lock': '' });
  plainGit(folder, 'init', '-q');
  const parts = { team: 'shop', agents: AGENTS, schema: './schema.json' };
  const project = lookAtProject(folder, { PATH: '/usr/bin:/bin' });
  expect(project).toMatchObject({ check: 'poetry run pytest', missing: 'poetry', isRepository: true });
  const text = writeTemplate('project', { ...parts, project });
  expect(text).toContain('poetry is not on the PATH');
  expect(text).toContain('#   TaskCompleted: { command: poetry run pytest,');
  const { hooks, work } = parseTeamFile(text, 't.yaml');
  expect([hooks, work]).toEqual([undefined, undefined]);
  expect(writeTemplate('gate', { ...parts, project })).toMatch(/run pytest, .* # poetry is not on the PATH: /);
  // What a person gets who does as the file says.
  const bare = text.replace(/^# (?=work:|hooks:| {2}(?:setup|TaskCompleted):)/gm, '');
  expect(parseTeamFile(bare, 't.yaml')).toMatchObject({
    hooks: { TaskCompleted: { command: 'poetry run pytest' } },
    work: { setup: 'poetry install' },
  });
  expect(look(folderWith({ gradlew: '' }))).toMatchObject({ missing: './gradlew' });
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
  const project = look(folder);
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
  expect(look(folder).check).toBeUndefined();
});

test('writes files that troupe up takes, of every template for every kind of project', () => {
  const all = [{}, { 'package.json': PACKAGE, 'yarn.lock': '' }, { 'go.mod': '' }].map(folderWith);
  for (const folder of all.slice(1)) plainGit(folder, 'init', '-q');
  const projects = all.flatMap((folder) => [look(folder), lookAtProject(folder, { PATH: '/usr/bin:/bin' })]);
  for (const project of projects) {
    for (const template of Object.keys(ABOUT) as TemplateName[]) {
      for (const agents of [[], AGENTS.slice(0, 1), AGENTS]) {
        const text = writeTemplate(template, { team: '2026', agents, schema: './schema.json', project });
        expect(parseTeamFile(text, 't.yaml').team, template).toBe('2026');
      }
    }
  }
});

test('explains each line of the file for a project', () => {
  const folder = folderWith({ 'package.json': PACKAGE, 'package-lock.json': '' });
  plainGit(folder, 'init', '-q');
  const project = look(folder);
  const text = writeTemplate('project', { team: 'shop', agents: AGENTS, schema: './schema.json', project });
  expect(text).toContain('claude (not logged in: run claude /login), codex (not installed here)');
  for (const key of ['agent', 'mode', 'needs', 'setup', 'command', 'timeout', 'onFailure', 'budget']) {
    expect(text, key).toMatch(new RegExp(`^ *${key}: .+ # \\w+`, 'm'));
  }
});

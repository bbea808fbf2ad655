import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseTeamFile } from '../../src/runtime/team-file/parse.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { plainGit } from '../workspaces/project.ts';
import { openTerminal } from './terminal.ts';
import { newTroupe } from './troupe.ts';
import type { Troupe } from './troupe.ts';

/** A machine on which these programs are installed. */
function machineWith(...programs: readonly string[]): { troupe: Troupe; env: { PATH: string }; file: string } {
  const folder = temporaryFolder();
  for (const name of programs) {
    writeFileSync(join(folder, name), '#!/bin/sh\nexit 1\n');
    chmodSync(join(folder, name), 0o755);
  }
  const env = { PATH: [folder, dirname(process.execPath), '/usr/bin', '/bin'].join(':') };
  return { troupe: newTroupe(), env, file: join(folder, 'troupe.yaml') };
}

describe('troupe init', () => {
  test('writes a team that uses the installed agents in turn', async () => {
    const { troupe, env, file } = machineWith('codex', 'gemini', 'codex-acp');
    const { stdout, status } = await troupe.run(['init', 'feature', '--file', file], { env });
    expect({ stdout, status }).toMatchObject({ status: 0, stdout: expect.stringContaining('for codex, gemini.') });
    const { members } = parseTeamFile(readFileSync(file, 'utf8'), file);
    expect(members.map(({ agent }) => agent)).toEqual(['codex', 'gemini', 'codex']);
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(readFileSync(file, 'utf8')) ?? [];
    expect(JSON.parse(readFileSync(new URL(schema), 'utf8'))).toMatchObject({ $id: 'urn:troupe:schema:team-file' });

    const led = await troupe.json(['init', 'goal', '--file', file, '--force'], { env });
    expect(led).toMatchObject({ agents: ['codex', 'gemini'] });
    const { lead, agents } = parseTeamFile(readFileSync(file, 'utf8'), file);
    expect(lead).toMatchObject({ agent: 'codex', delegate: true });
    expect(Object.keys(agents ?? {})).toEqual(['codex', 'gemini']);
  });

  test('says what to do in lines that break at words', async (context) => {
    needTool(context, 'tmux');
    const { troupe, env, file } = machineWith();
    const terminal = openTerminal(troupe, `cd ${dirname(file)}; troupe init`, { columns: 60, env });
    const shown = await terminal.see(/ended with 0/);
    expect(shown).toContain('Wrote troupe.yaml. No agent is on the PATH: until you\ninstall one');
    expect(shown).toContain('No test command was found');
  });

  test('uses the agents that are named, and writes valid files even if none is installed', async () => {
    const { troupe, env, file } = machineWith();
    await troupe.askJson(['init', 'review', '--agents', 'claude,goose', '--file', file], { env });
    const { members } = parseTeamFile(readFileSync(file, 'utf8'), file);
    expect(members.map(({ agent }) => agent)).toEqual(['claude', 'goose', 'claude', 'goose']);
    const wrong = await troupe.ask(['init', '--agents', 'clade', '--file', `${file}.2`], { env });
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('There is no agent named clade') });
    expect(existsSync(`${file}.2`)).toBe(false);
    const ofPrograms = await troupe.ask(['init', 'script', '--agents', 'claude', '--file', `${file}.2`], { env });
    expect(ofPrograms).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('The members of script are programs'),
    });
    expect(existsSync(`${file}.2`)).toBe(false);
    const listed = await troupe.askJson<{ template: string }[]>('init --list', { env });
    expect(listed.map(({ template }) => template)).toContain('mixed');
    for (const { template } of listed) {
      const { stdout } = await troupe.ask(['init', template, '--file', file, '--force'], { env });
      expect(stdout.includes('No agent is on the PATH')).toBe(template !== 'script' && template !== 'solo');
      expect(() => parseTeamFile(readFileSync(file, 'utf8'), file)).not.toThrow();
    }
  });

  test('writes a file for the project without being told which: its tests, and agents with a login', async () => {
    const { troupe, env, file } = machineWith('claude', 'codex', 'gemini', 'pnpm');
    const folder = dirname(file);
    // A login is a file or a variable; it is looked for, and not read.
    writeFileSync(join(folder, 'auth.json'), 'not even JSON');
    const more = { ...env, CODEX_HOME: folder, CLAUDE_CONFIG_DIR: join(folder, 'none'), HOME: folder };
    plainGit(folder, 'init', '-q');
    writeFileSync(join(folder, 'package.json'), '{ "name": "@acme/Shop", "scripts": { "test": "true" } }');
    writeFileSync(join(folder, 'pnpm-lock.yaml'), '');
    const made = await troupe.json(['init', '--file', file], { env: more });
    const project = { kind: 'Node.js', source: 'package.json', check: 'pnpm test' };
    expect(made).toMatchObject({ team: 'acme-shop', template: 'project', agents: ['codex', 'gemini'], project });
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('# Agents: codex (logged in), gemini (');
    const { members, hooks, work } = parseTeamFile(text, file);
    expect(members.map(({ agent }) => agent)).toEqual(['codex', 'gemini']);
    expect(hooks?.TaskCompleted).toMatchObject({ command: 'pnpm test', onFailure: 'block' });
    expect(work).toMatchObject({ setup: 'pnpm install --frozen-lockfile' });

    const again = await troupe.ask(['init', '--file', file], { env: more });
    expect(again).toMatchObject({ status: 4, stderr: expect.stringContaining('already exists') });
    const forced = await troupe.ask(['init', '--file', file, '--force', '--agents', 'claude'], { env: more });
    expect(forced.stdout).toContain(`then: troupe up ${file}\nEvery task is judged by pnpm test (package.json)`);
    expect(forced.stdout).toContain('claude is not logged in');
    rmSync(join(folder, 'pnpm'));
    const without = await troupe.ask(['init', '--file', file, '--force'], { env: more });
    expect(without.stdout).toContain(
      'run with pnpm test (package.json), but pnpm is not on the PATH.\nSo the file has no gate',
    );
  });

  test('writes a file for a project that works as it is, even without an agent', async () => {
    const { troupe, env, file } = machineWith();
    const folder = join(dirname(file), 'shop');
    const own = join(folder, 'troupe.yaml');
    mkdirSync(folder);
    plainGit(folder, 'init', '-q', '-b', 'main');
    writeFileSync(join(folder, 'Makefile'), 'test:\n\t@echo judged >> "$(HOME)/judged"\n');
    const { team } = await troupe.json<{ team: string }>(['init', '--file', own], { env });
    plainGit(folder, 'add', '.');
    plainGit(folder, 'commit', '-q', '-m', 'All');
    const { status, stdout, stderr } = await troupe.run(['up', own, '--yes'], { env: { ...env, HOME: dirname(file) } });
    expect({ status, stdout, stderr }).toMatchObject({ status: 0 });
    const tasks = await troupe.json<{ status: string }[]>(['task', 'list', '--team', team], { env });
    expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(readFileSync(join(dirname(file), 'judged'), 'utf8')).toBe('judged\njudged\n');
  });

  test('names the team after its project, so that two projects do not share a name', async () => {
    const { troupe, env, file } = machineWith();
    const nameOf = async (place: string): Promise<string> => {
      const path = join(dirname(file), place);
      mkdirSync(dirname(path), { recursive: true });
      const { team } = await troupe.askJson<{ team: string }>(['init', 'solo', '--file', path], { env });
      expect(parseTeamFile(readFileSync(path, 'utf8'), path).team).toBe(team);
      return team;
    };
    expect(await nameOf('My Shop (new)/troupe.yaml')).toBe('my-shop-new');
    expect(await nameOf('My Shop (new)/night.yaml')).toBe('my-shop-new-night');
    expect(await nameOf('2026/troupe.yaml')).toBe('2026');
    expect(await nameOf('日本/troupe.yaml')).toBe('solo');
    expect(await nameOf('true/troupe.yaml')).toBe('true-1');
  });

  test('writes teams of programs that work unchanged, and teams of agents that say what to install', async () => {
    const { troupe, env, file } = machineWith();
    const raise = async (template: string): Promise<string> => {
      const own = join(dirname(file), `${template}.yaml`);
      const { team } = await troupe.json<{ team: string }>(['init', template, '--file', own], { env });
      const { status, stdout, stderr } = await troupe.run(['up', own, '--yes'], { env });
      expect({ template, status, stdout, stderr }).toMatchObject({ status: 0 });
      return team;
    };
    const solo = await raise('solo');
    // It has no lead, so none is shown or counted.
    expect((await troupe.run(['member', 'list', '--team', solo], { env })).stdout).not.toMatch(/^lead/m);
    const teams = await troupe.json<{ name: string; members: number }[]>('team list', { env });
    expect(teams).toMatchObject([{ name: solo, members: 1 }]);
    await raise('script');
    for (const template of ['review', 'goal']) {
      const own = join(dirname(file), `${template}.yaml`);
      expect((await troupe.run(['init', template, '--file', own], { env })).stdout).toContain('it is for claude until');
      const { status, stderr } = await troupe.run(['up', own, '--yes'], { env });
      expect({ status, stderr }).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('npm install -g') as string,
      });
    }
    expect(await troupe.json('team list', { env })).toHaveLength(2);
  });

  test('writes the check of the project as the gate, and never one that agrees to everything', async () => {
    const { troupe, env, file } = machineWith();
    const gateOf = async (template: string): Promise<string> => {
      const { status } = await troupe.ask(['init', template, '--file', file, '--force'], { env });
      expect(status).toBe(0);
      const { hooks } = parseTeamFile(readFileSync(file, 'utf8'), file);
      return [hooks?.TaskCompleted].flat()[0]?.command ?? '';
    };
    expect(await gateOf('gate')).toBe('./check.sh');
    expect(await gateOf('feature')).toContain('then ./check.sh; fi');
    writeFileSync(join(dirname(file), 'Cargo.toml'), '');
    expect(await gateOf('gate')).toBe('cargo test');
    writeFileSync(join(dirname(file), 'package.json'), '{ "scripts": { "test": "true" } }');
    expect(await gateOf('feature')).toContain('then npm test; fi');
  });

  test('writes a gate for the feature template that judges only the last task, and says what fails', async () => {
    const { troupe, env, file } = machineWith();
    const init = ['init', 'feature', '--agents', 'claude', '--file', file];
    writeFileSync(join(dirname(file), 'package.json'), '{ "scripts": { "test": "true" } }');
    const { team } = await troupe.json<{ team: string }>(init, { env });
    const folder = dirname(file);
    writeFileSync(
      join(folder, 'work.sh'),
      'case "$(cat)" in *"1 test fails"*) touch "$(dirname "$0")/mended";; esac; echo done',
    );
    const check = 'test -e mended || { echo 1 test fails; exit 1; }';
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { test: check } }));
    const program = `agent: { exec: [sh, ${JSON.stringify(join(folder, 'work.sh'))}] }`;
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('agent: claude', program));
    const { status, stdout, stderr } = await troupe.run(['up', file, '--yes'], { env });
    expect({ status, stdout, stderr }).toMatchObject({ status: 0 });
    const list = ['task', 'list', '--team', team];
    const tasks = await troupe.json<{ title: string; rejections: number }[]>(list, { env });
    expect(tasks.map(({ title, rejections }) => [title, rejections])).toEqual([
      ['Write down types and files', 0],
      ['Write the code', 0],
      ['Write the tests', 0],
      ['Make all tests pass', 1],
    ]);
  });
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { iterm2Terminal } from '../../src/terminals/iterm2.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const IT2 = join(import.meta.dirname, '../fixtures/terminals');

test('opens a session beside ours, runs the command in it as one quoted line, and closes no other', async () => {
  const { terminal, folder, calls, sessions } = setStage();
  const cwd = join(folder, `it's #(here); $(touch canary)`);
  mkdirSync(cwd);
  const words = [
    'sh',
    '-c',
    'pwd > "$1"; printf %s "$2" >> "$1"',
    '-',
    join(folder, 'said'),
    `a'b; touch canary`,
  ] as const;
  const pane = await terminal.open({ command: words, cwd, marker: 'ann@crew-1' });
  const stranger = 'AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE';
  writeFileSync(join(folder, `${stranger}.session`), '');
  expect(calls().map((call) => call.slice(0, 2))).toEqual([
    ['session', 'split'],
    ['session', 'run'],
  ]);
  // Runs what iTerm2 would type into the shell of the session.
  execFileSync('/bin/sh', ['-c', readFileSync(join(folder, `${pane.id}.session`), 'utf8')], { cwd: folder });
  expect(readFileSync(join(folder, 'said'), 'utf8')).toBe(`${cwd}\na'b; touch canary`);
  expect([join(folder, 'canary'), join(cwd, 'canary')].filter((path) => existsSync(path))).toEqual([]);
  expect(await terminal.close(pane)).toBe(true);
  expect(sessions()).toEqual([stranger]);
});

test('does not close a session that the user closed, or any other', async () => {
  const { terminal, folder, calls } = setStage();
  const pane = await terminal.open({ command: ['true'], cwd: folder, marker: 'ann@crew-1' });
  execFileSync('rm', [join(folder, `${pane.id}.session`)]);
  expect(await terminal.close(pane)).toBe(false);
  expect(calls().filter(([, verb]) => verb === 'close')).toEqual([]);
});

test('says so if iTerm2 does not answer, and leaves a pane alone that it cannot find', async () => {
  const { terminal, folder } = setStage();
  const pane = await terminal.open({ command: ['true'], cwd: folder, marker: 'ann@crew-1' });
  writeFileSync(join(folder, 'broken'), '');
  await expect(terminal.open({ command: ['true'], cwd: folder, marker: 'bob@crew-1' })).rejects.toMatchObject({
    code: 'conflict',
    message: 'it2 session failed: iTerm2 is not running',
  });
  expect(await terminal.close(pane)).toBe(false);
});

/** The terminal, with a fake `it2` that keeps its sessions in a folder. */
function setStage() {
  const folder = temporaryFolder();
  const path = [IT2, dirname(process.execPath), process.env['PATH']].join(':');
  const terminal = iterm2Terminal({ ...process.env, PATH: path, IT2_FOLDER: folder });
  return {
    folder,
    terminal,
    calls: () =>
      readFileSync(join(folder, 'calls.log'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as string[]),
    sessions: () =>
      readdirSync(folder).flatMap((name) => (name.endsWith('.session') ? name.slice(0, -'.session'.length) : [])),
  };
}

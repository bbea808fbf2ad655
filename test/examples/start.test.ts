import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TROUPE_SOURCE } from '../setup/source.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

/** Starts the demo, with a folder for its temporary files, and nothing in the environment that git would use. */
function startDemo(more: Readonly<Record<string, string>> = {}, words: readonly string[] = []) {
  const folder = join(temporaryFolder(), 't');
  mkdirSync(folder);
  const env = { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, TROUPE_SOURCE, ...more };
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../examples/start.ts'), ...words], { env });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output.stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output.stderr += chunk));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  // The demo ends everything that it started.
  onTestFinished(async () => {
    child.kill('SIGINT');
    await ended;
  });
  const works = () => until('a task is claimed', () => output.stdout.includes('claimed'));
  const left = () => readdirSync(folder).filter((name) => name.startsWith('troupe-'));
  return { child, output, ended, works, left };
}

describe('npm start', () => {
  test.for([
    [['nowhere'], /^There is no example nowhere: choose one of bug-hunt, /],
    [['docs', 'review'], /^npm start takes one example and --keep, not review\n/],
    [['docs', '--kepe'], /^npm start takes one example and --keep, not --kepe\n/],
    [['--kepe'], /^npm start takes one example and --keep, not --kepe\n/],
  ] as const)('refuses %s', async ([words, why]) => {
    const { output, ended, left } = startDemo({}, words);
    expect(await ended).toBe(2);
    expect(output.stderr).toMatch(why);
    expect(left()).toEqual([]);
  });

  test('shows members in copies of a repository, and ends with their branch, its size and its merge', async () => {
    // A variable that points into somebody else's repository must not lead there.
    const { output, ended, left } = startDemo({ GIT_DIR: '/nowhere', GIT_WORK_TREE: '/nowhere' });
    expect(await ended, output.stderr).toBe(0);
    expect(output.stdout).toMatch(/^Workspaces: each member has its own, from \w{7} of ~\/troupe-\w+\/slugify$/m);
    expect(output.stdout).toContain('A gate sent #3 back once.');
    const [, end = ''] = output.stdout.split('\n$ troupe diff --stat\n');
    expect(end).toMatch(/^troupe\/slugify since \w{7}: 5 files \(\+\d+ -0\), (\w{7}\.\.\w{7})\n/);
    expect(end).toMatch(
      /\n\$ troupe merge\nMerged troupe\/slugify into main: 5 files \(\+\d+ -0\), \w{7}\.\.\w{7}\.\n/,
    );
    const log = end.split('$ git log --oneline\n')[1]?.split('\n').slice(0, 7) ?? [];
    expect(log.map((line) => line.slice(8)).sort()).toEqual([
      'Lint the code',
      'Measure how fast it is',
      'Set up the package',
      'The programs of the team',
      'Write slugify()',
      'Write the report',
      'Write the tests',
    ]);
    expect(left()).toEqual([]);
  });

  test('says what it shows, and after an interrupt that nothing of it goes on', async () => {
    const { child, output, ended, works, left } = startDemo();
    await works();
    expect(output.stdout).toMatch(/^Four scripts, no model/);
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(output.stdout).toContain('Interrupted: its members are stopped and the team is closed.');
    expect(output.stdout).not.toContain('The same command');
    expect(left()).toEqual([]);
  });

  test('ends cleanly, but without success, when its output is closed', async () => {
    const { child, output, ended, works, left } = startDemo();
    await works();
    child.stdout.destroy();
    expect(await ended).toBe(130);
    expect(output.stderr).not.toMatch(/Error|at .*:\d+/);
    expect(left()).toEqual([]);
  });
});

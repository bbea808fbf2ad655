import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TROUPE_SOURCE } from '../setup/source.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

/** Starts the demo, with a folder for its temporary files. */
function startDemo() {
  const folder = join(temporaryFolder(), 't');
  mkdirSync(folder);
  const env = { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, TROUPE_SOURCE };
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../examples/start.ts')], { env });
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

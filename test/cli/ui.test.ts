import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { linesOf } from '../lines-of.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { sharedTroupe } from './troupe.ts';

/** A folder with an opener that writes down what it was asked to open. */
function makeOpener(exitCode = 0): { path: string; opened: string } {
  const folder = temporaryFolder();
  const opened = join(folder, 'opened');
  mkdirSync(join(folder, 'bin'));
  const program = join(folder, 'bin', process.platform === 'darwin' ? 'open' : 'xdg-open');
  writeFileSync(program, `#!/bin/sh\necho "$@" > ${opened}\nexit ${exitCode}\n`);
  chmodSync(program, 0o755);
  return { path: `${join(folder, 'bin')}:${process.env['PATH']}`, opened };
}

const LOGIN = /^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{43}\n$/;

describe('troupe ui', () => {
  const troupe = sharedTroupe();

  test('opens a browser through a file that nobody else can read, and does not print the code', async () => {
    const { path, opened } = makeOpener();
    const { status, stdout } = await troupe.run('ui', { env: { DISPLAY: ':9', PATH: path } });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Opening the dashboard at http:\/\/127\.0\.0\.1:\d+\n$/);
    const page = await until('it is opened', () => linesOf(opened)[0]);
    expect(statSync(page).mode & 0o777).toBe(0o600);
    expect(readFileSync(page, 'utf8')).toMatch(/content="0;url=http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{43}"/);
  });

  test('prints the address if there is no display, no browser, or --no-open', async () => {
    const { path, opened } = makeOpener(3);
    const blind = { DISPLAY: '', WAYLAND_DISPLAY: '' };
    expect((await troupe.run('ui', { env: { ...blind, PATH: path } })).stdout).toMatch(LOGIN);
    expect((await troupe.run('ui --no-open', { env: { DISPLAY: ':9', PATH: path } })).stdout).toMatch(LOGIN);
    expect(existsSync(opened)).toBe(false);
    expect((await troupe.run('ui', { env: { DISPLAY: ':9', PATH: path } })).stdout).toMatch(LOGIN);
    expect(existsSync(opened)).toBe(true);
  });

  test('opens a team, also as JSON, and refuses an unknown one', async () => {
    await troupe.run('team create demo');
    const { url } = await troupe.json<{ url: string }>('ui --team demo');
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/t\/demo#code=[\w-]{43}$/);
    const { status, stderr } = await troupe.run('ui --team other');
    expect(status).not.toBe(0);
    expect(stderr).toContain('There is no team "other"');
  });
});

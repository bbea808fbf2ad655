import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TEMPORARY } from '../../src/bridge/json-file.ts';
import { nativePaths } from '../../src/bridge/layout.ts';
import type { NativePaths } from '../../src/bridge/layout.ts';
import { watchDebris } from '../../src/bridge/mirror/housekeeping.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function newPlace(): NativePaths {
  const paths = nativePaths(temporaryFolder(), 'demo');
  for (const folder of [paths.tasks, paths.inboxes]) mkdirSync(folder, { recursive: true });
  return paths;
}

/** Kills processes until one was killed in the middle of a write. */
async function killedWriter(path: string, folder: string): Promise<string> {
  const program = join(import.meta.dirname, 'programs/endless-writer.ts');
  for (let attempt = 0; attempt < 20; attempt++) {
    const child = fork(program, [path], { execArgv: [] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'message');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const left = readdirSync(folder).find((name) => TEMPORARY.test(name));
    if (left !== undefined) return join(folder, left);
  }
  throw new Error('it was never hit in the middle of a write');
}

describe('what a killed daemon leaves in native directories', () => {
  test('is a temporary file; the real file stays whole, and the next daemon removes the other after a while', async () => {
    const paths = newPlace();
    const path = paths.task('1');
    const left = await killedWriter(path, paths.tasks);
    expect(readFileSync(path).length).toBe(8 * 1024 * 1024);
    const debris = watchDebris(paths, 200);
    debris.look();
    expect(existsSync(left)).toBe(true);
    const isGone = (): boolean => {
      debris.look();
      return !existsSync(left);
    };
    await expect.poll(isGone).toBe(true);
    expect(readdirSync(paths.tasks)).toEqual(['1.json']);
  });

  test('is not a foreign temporary file, however old, or a file that still changes', async () => {
    const paths = newPlace();
    const foreign = [`${paths.task('1')}.tmp.0123abcd`, `${paths.inbox('bob')}.tmp.troupe-me`, paths.task('2')];
    for (const path of foreign) writeFileSync(path, 'x');
    utimesSync(foreign[0] as string, 0, 0);
    const tombstone = `${paths.task('3')}.lock.stale.12.34`;
    const filled = `${paths.task('4')}.lock.stale.12.35`;
    mkdirSync(tombstone);
    mkdirSync(join(filled, 'inside'), { recursive: true });
    const fresh = `${paths.config}.tmp.troupe-0123abcd`;
    writeFileSync(fresh, 'x');
    const debris = watchDebris(paths, 100);
    let times = 0;
    const look = (): boolean => {
      // Its time is an hour ago, then an hour ahead: it changes, so a writer is alive.
      utimesSync(fresh, new Date(), new Date(Date.now() + (++times % 2 ? -3_600_000 : 3_600_000)));
      debris.look();
      return existsSync(tombstone);
    };
    await expect.poll(look).toBe(false);
    expect([...foreign, fresh, filled].filter((path) => !existsSync(path))).toEqual([]);
  });
});

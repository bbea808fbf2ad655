import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { writeWhole } from '../../src/bridge/json-file.ts';
import { nativePaths } from '../../src/bridge/layout.ts';
import { keepSpares } from '../../src/bridge/spares.ts';
import type { Spares } from '../../src/bridge/spares.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { file, read, setStage, TEAM } from './stage.ts';

function setSpares(): { spares: Spares; folder: string; root: string; errors: unknown[]; left: () => string[] } {
  const root = temporaryFolder();
  const folder = join(root, 'spares');
  mkdirSync(folder);
  writeFileSync(join(folder, 'left-by-another'), 'half a fi');
  const errors: unknown[] = [];
  const spares = keepSpares(folder, root, (error) => errors.push(error));
  onTestFinished(() => spares.close());
  return { spares, folder, root, errors, left: () => (existsSync(folder) ? readdirSync(folder) : []) };
}

describe('files that are made ahead', () => {
  test('are as many as wanted, each for one, and gone with the wish and the process', async () => {
    const { spares, left } = setSpares();
    expect(left()).toEqual([]);
    expect(spares.take()).toBeUndefined();
    spares.want('a', 3);
    spares.want('b', 2);
    await expect.poll(() => left().length).toBe(5);
    const taken = [spares.take(), spares.take()];
    expect(new Set(taken).size).toBe(2);
    await expect.poll(() => left().length).toBe(7);
    spares.want('a', 0);
    await expect.poll(() => left().length).toBe(4);
    await spares.close();
    expect(left()).toEqual([]);
    expect(spares.take()).toBeUndefined();
  });

  test('become the file with the mode it had; where that fails, it is written all the same', async () => {
    const { spares, root, folder, errors } = setSpares();
    spares.want('a', 2);
    await expect.poll(() => readdirSync(folder).length).toBe(2);
    const path = join(root, 'file');
    const before = readdirSync(folder);
    writeWhole(path, 'first', 0o640, spares);
    expect(readFileSync(path, 'utf8')).toBe('first');
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder).length).toBeLessThan(before.length);
    // Somebody tidied up.
    rmSync(folder, { recursive: true });
    writeWhole(path, 'second', 0o640, spares);
    expect(readFileSync(path, 'utf8')).toBe('second');
    expect(errors).toHaveLength(1);
    expect(readdirSync(root)).toEqual(['file']);
  });

  test('are not made where they could not be renamed to', async (context) => {
    const other = '/dev/shm';
    const here = temporaryFolder();
    context.skip(!existsSync(other) || statSync(other).dev === statSync(here).dev, 'there is no second file system');
    const spares = keepSpares(join(here, 'spares'), other, () => {});
    onTestFinished(() => spares.close());
    spares.want('a', 3);
    await expect.poll(() => existsSync(join(here, 'spares'))).toBe(true);
    expect(spares.take()).toBeUndefined();
    expect(readdirSync(join(here, 'spares'))).toEqual([]);
  });

  test('leave no half file and nothing else among the tasks when the process is killed', async () => {
    const { root, folder } = setSpares();
    const paths = nativePaths(root, 'crew');
    mkdirSync(paths.tasks, { recursive: true });
    const ids = ['1', '2', '3', '4', '5'];
    for (const id of ids) writeFileSync(paths.task(id), JSON.stringify(file(id)));
    const locks = (): string[] => readdirSync(paths.tasks).filter((name) => name.endsWith('.lock'));
    for (let round = 0; round < 5; round++) {
      const program = join(import.meta.dirname, 'programs/spare-writer.ts');
      const child = fork(program, [root, 'crew', folder, String(ids.length)], { execArgv: [] });
      onTestFinished(() => void child.kill('SIGKILL'));
      await once(child, 'message');
      // In the middle of a write, then: it has a lock.
      await expect.poll(() => locks().length, { interval: 0 }).toBeGreaterThan(0);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const found = readdirSync(paths.tasks).filter((name) => !name.endsWith('.lock'));
      expect(found.sort()).toEqual(ids.map((id) => `${id}.json`));
      for (const id of ids) expect(read(paths.task(id))).toMatchObject({ id, status: 'pending' });
      for (const name of locks()) rmSync(join(paths.tasks, name), { recursive: true });
    }
  });

  test('are kept for the tasks of a joined team, and none when it was left', async () => {
    const { bridge, tasks, paths, root } = await setStage();
    const folder = join(dirname(root), 'spares');
    await expect.poll(() => readdirSync(folder).length).toBe(2);
    await tasks.claimTask(TEAM, '1', 'codex-1');
    expect(read(paths.task('1'))).toMatchObject({ owner: 'codex-1' });
    expect(readdirSync(paths.tasks).sort()).toEqual(['1.json', '2.json']);
    await bridge.leave(TEAM);
    await expect.poll(() => readdirSync(folder)).toEqual([]);
  });
});

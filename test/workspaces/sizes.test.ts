import { linkSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sizeOf } from '../../src/workspaces/sizes.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('the size of a folder is what it takes on the disk: a file with several names counts once, and links are not followed', async () => {
  const folder = temporaryFolder();
  const far = join(temporaryFolder(), 'far');
  writeFileSync(far, Buffer.alloc(1_000_000, 1));
  const below = join(folder, 'a/b');
  mkdirSync(below, { recursive: true });
  const file = join(below, 'file');
  writeFileSync(file, Buffer.alloc(100_000, 1));
  const blocksOf = (...paths: string[]): number => paths.reduce((sum, path) => sum + lstatSync(path).blocks * 512, 0);
  const alone = blocksOf(folder, join(folder, 'a'), below, file);
  expect(alone).toBeGreaterThanOrEqual(100_000);
  expect(await sizeOf(folder)).toBe(alone);
  linkSync(file, join(folder, 'same'));
  linkSync(file, join(folder, 'a/same'));
  symlinkSync(far, join(folder, 'far'));
  expect(await sizeOf(folder)).toBe(blocksOf(folder, join(folder, 'a'), below, file, join(folder, 'far')));
  // More than are looked at in one go.
  for (let i = 0; i < 100; i++) writeFileSync(join(below, `${i}`), 'x');
  expect(await sizeOf(below)).toBe(
    blocksOf(below, file, ...Array.from({ length: 100 }, (_, i) => join(below, `${i}`))),
  );
  expect(await sizeOf(join(folder, 'nothing'))).toBe(0);
});

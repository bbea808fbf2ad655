import { spawnSync } from 'node:child_process';
import { cpSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isBuilt } from '../scripts/stale.ts';

const ROOT = join(import.meta.dirname, '..');

/** Copies the built program to a folder, without its sources. Builds it there if the last build is stale. */
export function copyBuilt(folder: string): void {
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const copy = (...paths: string[]): void => {
    for (const path of paths) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  };
  copy('bin', 'package.json');
  // `npm test` has just built it: a second build would take half a minute and be the same.
  if (isBuilt()) return copy('dist');
  copy('src', 'scripts', 'tsconfig.json', 'tsconfig.build.json');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/build.ts'], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^compiles src\/ \.\.\.\n.*bundles the daemon: [\d.]+ s\n.*Built into dist\/\.\n$/s);
  rmSync(join(folder, 'src'), { recursive: true });
}

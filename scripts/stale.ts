// Checks whether the build is up to date, and builds if it is not.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = dirname(import.meta.dirname);
/** The sources of the package. */
const SOURCES = ['src', 'scripts', 'bin', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];
/** One of the last files that a build writes. If it is missing, no build has finished. */
const LAST_BUILT = 'dist/cli/commands/serve.js';

/** Whether dist/ is up to date with src/. */
export function isBuilt(root = ROOT): boolean {
  return existsSync(join(root, LAST_BUILT)) && !isStale(root, SOURCES, LAST_BUILT);
}

/** Builds the package if it is not up to date. It does not check the types: `npm run check` and `npm run build` do. */
export async function buildIfStale(): Promise<void> {
  if (isBuilt()) return;
  const build = spawn(process.execPath, [join(ROOT, 'scripts/build.ts'), '--no-check'], {
    cwd: ROOT,
    // Standard output may belong to a program's JSON.
    stdio: ['ignore', 2, 2],
  });
  const [status] = await once(build, 'close');
  if (status !== 0) throw new Error('The package cannot be built');
}

/** Whether one of the sources is newer than the result. */
export function isStale(root: string, sources: readonly string[], made: string): boolean {
  const built = statSync(join(root, made), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return sources.some((path) => newest(join(root, path)) > built);
}

/** When a file or folder last changed; a folder changes when a file in it is added, renamed or removed. */
function newest(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

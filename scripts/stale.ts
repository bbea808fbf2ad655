// Whether what was built is what the source is now, and building it where it is not.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = dirname(import.meta.dirname);
/** What the program is made of. */
const SOURCES = ['src', 'scripts', 'bin', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];
/** Among the last that a build writes: without it, a build was never done or never came to its end. */
const LAST_BUILT = 'dist/cli/commands/serve.js';

/** Whether dist/ holds the program as it is in src/ now. */
export function isBuilt(root = ROOT): boolean {
  return existsSync(join(root, LAST_BUILT)) && !isStale(root, SOURCES, LAST_BUILT);
}

/** Builds the package where it is not. */
export async function buildIfStale(): Promise<void> {
  if (isBuilt()) return;
  const build = spawn(process.execPath, [join(ROOT, 'scripts/build.ts')], {
    cwd: ROOT,
    // Standard output may be somebody's JSON.
    stdio: ['ignore', 2, 2],
  });
  const [status] = await once(build, 'close');
  if (status !== 0) throw new Error('The package cannot be built');
}

/** Whether one of the sources is newer than what was made of them. */
export function isStale(root: string, sources: readonly string[], made: string): boolean {
  const built = statSync(join(root, made), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return sources.some((path) => newest(join(root, path)) > built);
}

/** When something last changed there; a folder changes when a file in it is added, renamed or removed. */
function newest(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

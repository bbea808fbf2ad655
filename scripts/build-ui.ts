// Builds the dashboard into dist/ui, where the daemon finds it. With --if-stale only when something it is made of is newer.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'vite';
import { isStale } from './stale.ts';

const ROOT = dirname(import.meta.dirname);
/** What the dashboard is made of. */
const SOURCES = ['ui', 'src/client', 'src/core', 'package-lock.json'];

if (import.meta.main) await buildUi({ ifStale: process.argv.includes('--if-stale') });

/** Builds beside the old one and then takes its place: whoever looks sees a whole one, also when several build at once. */
export async function buildUi({ ifStale = false, root = ROOT } = {}): Promise<void> {
  const target = join(root, 'dist/ui');
  const isWanted = (): boolean => !ifStale || isStale(root, SOURCES, 'dist/ui/index.html');
  if (!existsSync(join(root, 'ui/index.html')) || !isWanted()) return;
  const draft = `${target}.${process.pid}`;
  const environment = process.env['NODE_ENV'];
  // Vite leaves what is set, and a test runner has set it: React would be the slow one that is for finding mistakes.
  process.env['NODE_ENV'] = 'production';
  try {
    await build({
      configFile: join(root, 'ui/vite.config.ts'),
      logLevel: 'error',
      build: { outDir: draft, emptyOutDir: true },
    });
    // Another one that was begun at the same time may be there by now, and somebody may be reading it.
    if (isWanted()) takePlace(draft, target);
  } finally {
    if (environment === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = environment;
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Puts a folder where another may be, which is moved out of the way whole. Whoever does the same meanwhile has put a whole one there. */
function takePlace(draft: string, target: string): void {
  const old = `${draft}.old`;
  for (;;) {
    try {
      renameSync(target, old);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    rmSync(old, { recursive: true, force: true });
    try {
      return renameSync(draft, target);
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

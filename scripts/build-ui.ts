// Builds the dashboard into dist/ui, where the daemon finds it. With --if-stale only when something it is made of is newer.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'vite';
import { isStale } from './stale.ts';

const ROOT = dirname(import.meta.dirname);
/** What the dashboard is made of. */
const SOURCES = ['ui', 'src/client', 'src/core', 'package-lock.json'];

if (import.meta.main) await buildUi({ ifStale: process.argv.includes('--if-stale') });

/** Builds beside the old one and then takes its place: whoever looks sees a whole one, also when two build at once. */
export async function buildUi({ ifStale = false, root = ROOT } = {}): Promise<void> {
  const target = join(root, 'dist/ui');
  if (!existsSync(join(root, 'ui/index.html')) || (ifStale && !isStale(root, SOURCES, 'dist/ui/index.html'))) return;
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
    rmSync(target, { recursive: true, force: true });
    renameSync(draft, target);
  } finally {
    if (environment === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = environment;
    rmSync(draft, { recursive: true, force: true });
  }
}

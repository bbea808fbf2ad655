// Builds the dashboard into dist/ui, where the daemon finds it. With --if-stale, only if one of its sources is newer.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { completeLicenses, LICENSES } from './licenses.ts';
import { isStale } from './stale.ts';

const ROOT = dirname(import.meta.dirname);
/** The sources of the dashboard. */
const SOURCES = ['ui', 'src/client', 'src/core', 'package-lock.json', 'scripts/build-ui.ts', 'scripts/build-record.ts'];
/** What the daemon serves and what compresses well; fonts and pictures are compressed already. */
const COMPRESSIBLE = /\.(?:html|js|css|svg|json|webmanifest)$/;
/** Below this, the headers are most of an answer. */
const WORTH_BYTES = 512;

if (import.meta.main) await buildUi({ ifStale: process.argv.includes('--if-stale') });

/** Builds into a draft folder, then replaces the old one: readers always see a whole one, even with parallel builds. */
export async function buildUi({ ifStale = false, root = ROOT } = {}): Promise<void> {
  const target = join(root, 'dist/ui');
  const isWanted = (): boolean => !ifStale || isStale(root, SOURCES, 'dist/ui/index.html');
  if (!existsSync(join(root, 'ui/index.html')) || !isWanted()) return;
  // Loading it takes half a second of processor time, and mostly there is nothing to build.
  const { build } = await import('vite');
  const draft = `${target}.${process.pid}`;
  const environment = process.env['NODE_ENV'];
  // Vite keeps NODE_ENV if it is set, and a test runner sets it. React would then be the slow development build.
  process.env['NODE_ENV'] = 'production';
  try {
    await build({
      configFile: join(root, 'ui/vite.config.ts'),
      logLevel: 'error',
      build: { outDir: draft, emptyOutDir: true, license: LICENSES },
    });
    completeLicenses(root, join(draft, LICENSES.fileName), ['ui/**/*.{css,ts,tsx}']);
    compressAll(draft);
    // Only its compressed form: no daemon serves it.
    // It knows modules of src/, which a build without a dashboard need not have.
    const { buildRecordPage } = await import('./build-record.ts');
    writeFileSync(join(draft, 'record.html.br'), await buildRecordPage(root));
    // A parallel build may have finished by now, and somebody may be reading its result.
    if (isWanted()) takePlace(draft, target);
  } finally {
    if (environment === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = environment;
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Writes a compressed form beside each file, so that no daemon has to do it. Brotli’s quality 11 would take 14 times as long for 7 % less. */
function compressAll(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!COMPRESSIBLE.test(name)) continue;
    const file = join(folder, name);
    const body = readFileSync(file);
    if (body.byteLength < WORTH_BYTES) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength };
    writeFileSync(`${file}.br`, brotliCompressSync(body, { params }));
    writeFileSync(`${file}.gz`, gzipSync(body, { level: 9 }));
  }
}

/** Replaces a folder, which is first moved away whole. If a parallel build was faster, its folder is whole too. */
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

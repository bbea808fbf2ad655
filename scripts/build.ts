// Builds dist/ from src/: compiled modules with their declarations, and copies of all other files, such as migrations.
// Then bundles the command line and the daemon into few files that load fast, and builds the dashboard from ui/.
// With --no-check, it does not check the types, and takes a fifth of the compiler's processor time: on several threads the compiler
// would derive many types more than once.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildUi } from './build-ui.ts';

const ROOT = dirname(import.meta.dirname);

// A module that was renamed or removed must not stay in the package.
rmSync(join(ROOT, 'dist'), { recursive: true, force: true });

const isComplete = existsSync(join(ROOT, 'src/cli/main.ts'));
const status = await step('compiles src/', () => {
  const unchecked = process.argv.includes('--no-check') ? ['--noCheck', '--singleThreaded'] : [];
  const failed = run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', ...unchecked);
  cpSync(join(ROOT, 'src'), join(ROOT, 'dist'), {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || !path.endsWith('.ts'),
  });
  return failed;
});
process.exitCode = status;

if (status === 0 && isComplete) {
  await step('writes the commands and their help texts', writeTables);
  await step('bundles the command line', async () => (await import('./bundle-cli.ts')).bundleCli(ROOT));
  await step('bundles the daemon', async () => (await import('./bundle-programs.ts')).bundlePrograms(ROOT));
}
if (status === 0 && existsSync(join(ROOT, 'ui'))) await step('builds the dashboard', () => buildUi({ root: ROOT }));
if (status === 0) console.log('Built into dist/.');

/**
 * Commands and their help texts are made from the operations, whose loading would take longer than most commands. The built modules
 * are only the result.
 */
async function writeTables(): Promise<void> {
  for (const [name, file] of [
    ['TEXTS', 'dist/cli/line/texts.js'],
    ['MANIFEST', 'dist/cli/line/manifest.js'],
  ] as const) {
    const path = join(ROOT, file);
    const { [name]: table } = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
    writeFileSync(path, `export const ${name} = ${JSON.stringify(table)};\n`);
  }
}

/**
 * Says what it does, and then how long it took: the whole build takes most of a minute. Each on a line of its own,
 * because a step may print something, too.
 */
async function step<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  console.log(`${what} ...`);
  const began = performance.now();
  const result = await work();
  console.log(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return result;
}

function run(program: string, ...args: readonly string[]): number {
  return spawnSync(process.execPath, [join(ROOT, program), ...args], { stdio: 'inherit', cwd: ROOT }).status ?? 1;
}

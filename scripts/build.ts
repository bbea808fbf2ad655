// Builds dist/ from src/: compiled modules with their declarations, every other file, such as a migration, as it is, and
// the command line once more in few files that load fast; and the dashboard from ui/.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildUi } from './build-ui.ts';

const ROOT = dirname(import.meta.dirname);

// A module that was renamed or removed must not live on in the package.
rmSync(join(ROOT, 'dist'), { recursive: true, force: true });

const isComplete = existsSync(join(ROOT, 'src/cli/main.ts'));
const status =
  (isComplete ? run('scripts/write-manifest.ts', '--check') : 0) ||
  run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json');
process.exitCode = status;

cpSync(join(ROOT, 'src'), join(ROOT, 'dist'), {
  recursive: true,
  filter: (path) => statSync(path).isDirectory() || !path.endsWith('.ts'),
});
if (status === 0 && isComplete) await (await import('./bundle-cli.ts')).bundleCli(ROOT);
if (status === 0) await buildUi({ root: ROOT });

function run(program: string, ...args: readonly string[]): number {
  return spawnSync(process.execPath, [join(ROOT, program), ...args], { stdio: 'inherit', cwd: ROOT }).status ?? 1;
}

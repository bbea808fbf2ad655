// Builds dist/ from src/: compiled modules with their declarations, and every other file, such as a migration, as it is.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = dirname(import.meta.dirname);

// A module that was renamed or removed must not live on in the package.
rmSync(join(ROOT, 'dist'), { recursive: true, force: true });

const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', join(ROOT, 'tsconfig.build.json')], { stdio: 'inherit' });
process.exitCode = status ?? 1;

cpSync(join(ROOT, 'src'), join(ROOT, 'dist'), {
  recursive: true,
  filter: (path) => statSync(path).isDirectory() || !path.endsWith('.ts'),
});

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the build', () => {
  test('compiles modules, copies other files and leaves nothing stale', () => {
    const { folder, status, stdout } = build({
      'dist/removed.js': '',
      'src/index.ts': `export { one } from './journal/one.ts';\n`,
      'src/journal/one.ts': `export const one: number = 1;\n`,
      'src/journal/migrations/001.sql': 'select 1;\n',
    });
    expect(status).toBe(0);
    // Each time stands beside the name of its step.
    expect(stdout).toMatch(/^compiles src\/: \d+\.\d s$/m);
    expect(new Set(readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' }))).toEqual(
      new Set([
        'index.d.ts',
        'index.js',
        'journal',
        'journal/migrations',
        'journal/migrations/001.sql',
        'journal/one.d.ts',
        'journal/one.js',
      ]),
    );
    expect(readFileSync(join(folder, 'dist/index.js'), 'utf8')).toContain(`'./journal/one.js'`);
  });

  test('fails if the types are wrong', () => {
    const { status, stdout } = build({ 'src/index.ts': `export const one: number = 'one';\n` });
    expect(status).not.toBe(0);
    expect(stdout).toContain('src/index.ts(1,14): error TS2322');
  });
});

/** Runs our build, with our configuration, on a package that consists of these files. */
function build(files: Record<string, string>) {
  const folder = temporaryFolder();
  for (const path of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts']) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { folder, ...spawnSync(process.execPath, ['scripts/build.ts'], { cwd: folder, encoding: 'utf8' }) };
}

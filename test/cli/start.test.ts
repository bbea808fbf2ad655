import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isBuilt } from '../../scripts/stale.ts';
import { needs } from '../tools.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The build writes their results in their place. */
const GENERATED = ['src/cli/line/manifest.ts', 'src/cli/line/texts.ts'];

const VALUE_IMPORT = /^(?:import|export) (?!type\b)(?:[^'";]*? from )?'([^']+)';$/gms;

// To make the schemas takes twice as long as a whole command without them.
test('a command starts without schemas', () => {
  expect(wayTo('zod', 'src/cli/answer.ts')).toBeUndefined();
  expect(wayTo('zod', 'src/core/task.ts')).toBe('src/core/task.ts -> zod');
});

test('so does a built one', needs(isBuilt(), 'dist/ is older than src/: npm run build'), () => {
  const loaded = loadedBy('--version');
  expect(loaded.filter(hasSchemas)).toEqual([]);
  expect(loaded).toContain(join(ROOT, 'dist/cli/main.cjs'));
  expect(globSync('dist/cli/*.cjs', { cwd: ROOT }).filter(hasSchemas)).not.toEqual([]);
});

/** How a file comes to load a package when it is loaded itself. */
function wayTo(wanted: string, start: string): string | undefined {
  const ways = new Map([[start, start]]);
  for (const [file, way] of ways) {
    for (const specifier of GENERATED.includes(file) ? [] : importsOf(file)) {
      if (specifier === wanted) return `${way} -> ${wanted}`;
      const next = join(file, '..', specifier);
      if (specifier.startsWith('.') && !ways.has(next)) ways.set(next, `${way} -> ${next}`);
    }
  }
  return undefined;
}

function importsOf(file: string): string[] {
  return [...readFileSync(join(ROOT, file), 'utf8').matchAll(VALUE_IMPORT)].map(([, specifier = '']) => specifier);
}

/** The files that a built command has loaded when it ends. */
function loadedBy(...words: readonly string[]): string[] {
  const code = `process.argv.splice(1, 0, 'troupe'); process.on('exit', () => console.log('\\n' + JSON.stringify(Object.keys(require.cache)))); require('./dist/cli/main.cjs');`;
  const printed = execFileSync(process.execPath, ['-e', code, '--', ...words], { cwd: ROOT, encoding: 'utf8' });
  return JSON.parse(printed.trimEnd().split('\n').at(-1) ?? '') as string[];
}

function hasSchemas(file: string): boolean {
  return readFileSync(resolve(ROOT, file), 'utf8').includes('ZodError');
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** The build writes their results in their place. */
const GENERATED = ['src/cli/line/manifest.ts', 'src/cli/line/texts.ts'];

const VALUE_IMPORT = /^(?:import|export) (?!type\b)(?:[^'";]*? from )?'([^']+)';$/gms;

// To make the schemas takes twice as long as a whole command without them.
test('a command starts without schemas', () => {
  expect(wayTo('zod', 'src/cli/answer.ts')).toBeUndefined();
  expect(wayTo('zod', 'src/core/task.ts')).toBe('src/core/task.ts -> zod');
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

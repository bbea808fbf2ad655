import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** Static imports and exports, also of types, and dynamic imports. */
const IMPORT = /\bfrom '(\.[^']+)'|\bimport '(\.[^']+)'|\bimport\('(\.[^']+)'\)/g;

describe('imports', () => {
  test.each(['src', 'ui'])('form no cycle in %s', (folder) => {
    expect(findCircles(readImports(folder))).toEqual([]);
  });

  test('that form a cycle are found, however long it is', () => {
    const imports = { a: ['b', 'd'], b: ['c'], c: ['a'], d: [], e: ['a', 'e'] };
    expect(findCircles(new Map(Object.entries(imports)))).toEqual(['a -> b -> c -> a', 'e -> e']);
  });
});

function readImports(folder: string): Map<string, string[]> {
  const files = globSync(`${folder}/**/*.{ts,tsx}`, { cwd: ROOT });
  return new Map(
    files.map((file) => {
      const code = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
      const found = [...code.matchAll(IMPORT)].map(([, one, two, three]) => one ?? two ?? three ?? '');
      return [file, found.map((specifier) => join(dirname(file), specifier))];
    }),
  );
}

/** The first cycle that each walk finds. */
function findCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' -> '));
    if (done.has(file)) return;
    done.add(file);
    for (const next of imports.get(file) ?? []) walk(next, [...way, file]);
  };
  for (const file of imports.keys()) walk(file, []);
  return circles;
}

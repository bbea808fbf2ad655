import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { REQUIREMENTS, VERSIONS } from './requirements.ts';

describe("the manifest of the bridge's requirements", () => {
  const tests = [import.meta.dirname, join(import.meta.dirname, '../native')].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.test.ts') && name !== 'requirements.test.ts')
      .map((name) => readFileSync(join(folder, name), 'utf8')),
  );
  // The names in the first argument of each `proves(...)`.
  const proven = new Set(
    tests.flatMap((source) =>
      [...source.matchAll(/proves\(\s*(\[[^\]]*\]|'[^']*')|shows\(([^)]*)\)/g)].flatMap(([, one = '', more = '']) =>
        [...`${one} ${more}`.matchAll(/'([^']+)'/g)].map(([, name = '']) => name),
      ),
    ),
  );

  test.for(Object.entries(REQUIREMENTS))('has a test for %s', ([id, { from, to }]) => {
    expect(proven).toContain(id);
    expect(VERSIONS.indexOf(from)).toBeLessThanOrEqual(VERSIONS.indexOf(to));
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { REQUIREMENTS, VERSIONS } from './requirements.ts';

describe('the manifest of what the bridge relies on', () => {
  const tests = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.test.ts') && name !== 'requirements.test.ts')
    .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'));
  // The names in the first argument of each `proves(...)`.
  const proven = new Set(
    tests.flatMap((source) =>
      [...source.matchAll(/proves\(\s*(\[[^\]]*\]|'[^']*')/g)].flatMap(([, names = '']) =>
        [...names.matchAll(/'([^']+)'/g)].map(([, name = '']) => name),
      ),
    ),
  );

  test.for(Object.entries(REQUIREMENTS))('has a test for %s', ([id, { from, to }]) => {
    expect(proven).toContain(id);
    expect(VERSIONS.indexOf(from)).toBeLessThanOrEqual(VERSIONS.indexOf(to));
  });
});

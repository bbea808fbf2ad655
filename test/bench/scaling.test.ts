import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderScaling } from '../../scripts/write-scaling.ts';

test('docs/scaling.md has the figures of the last run; if not, run node scripts/write-scaling.ts', () => {
  expect(readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8')).toBe(renderScaling());
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderScaling } from '../../scripts/write-scaling.ts';

test('the figures of docs/scaling.md are those of the last run; else run node scripts/write-scaling.ts', () => {
  expect(readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8')).toBe(renderScaling());
});

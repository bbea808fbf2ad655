import { expect, test } from 'vitest';
import { makeDay } from '../../bench/day.ts';
import { buildUi } from '../../scripts/build-ui.ts';
import { readTemplate, writePage } from '../../src/cli/commands/export/page.ts';
import { random } from '../seed-numbers.ts';

test('without a built dashboard, an export says what to do', () => {
  expect(() => readTemplate(['/nowhere/record.html.br'])).toThrow('run npm run build');
});

test('the exported page of a day of a team of eight is smaller than 5 MB', async () => {
  await buildUi({ ifStale: true });
  const { record, batches } = await makeDay(random(1));
  expect(batches).toBeGreaterThan(5_000);
  const head = { teamId: 'day', at: 0, version: '0.0.0', hasTranscripts: false };
  expect(writePage(readTemplate(), head, record).length).toBeLessThan(5_000_000);
});

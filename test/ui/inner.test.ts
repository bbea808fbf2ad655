import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TROUPE_SOURCE } from '../setup/source.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, follow, useBrowser, usePage } from './browser.ts';
import { useStage } from './stage.ts';

const browser = useBrowser();
const stage = useStage();
const open = usePage(browser, stage);

const FIXTURES = join(import.meta.dirname, '../fixtures/agents');
const runs = (name: string): object => ({ agent: { exec: [join(FIXTURES, `${name}.js`)] }, env: { TROUPE_SOURCE } });

test('the page shows a team inside its member, below its team, and its question with the way to it', async (context) => {
  needTool(context, 'chromium');
  const { client } = stage();
  const folder = temporaryFolder();
  const inner = {
    team: 'review',
    lead: { name: 'chief', prompt: 'ask Which colour?', ...runs('converses') },
    members: [{ name: 'ann', ...runs('quick') }],
  };
  const outer = {
    team: 'alpha',
    lead: 'person',
    members: [{ name: 'rev', role: 'reviewers', agent: { team: './review.yaml' } }],
    tasks: [{ title: 'Review the parser', assign: 'rev' }],
  };
  writeFileSync(join(folder, 'review.yaml'), JSON.stringify(inner));
  await client.call('team.up', { source: JSON.stringify(outer), folder, yes: true });
  const watched = await open();
  const { page } = watched;
  // Beside the name there may be a link to what helps.
  const names = page.locator('table[aria-label="Open teams"] .teams-name a.one-line');
  await eventually(() => names.allInnerTexts()).toEqual(['alpha', 'alpha-rev-1']);
  await page.getByText('Works on #1 for rev of alpha').waitFor();
  await follow(page, '/queue');
  await page.locator('.queue-line').getByText('alpha/rev › chief').waitFor();

  await follow(page, '/t/alpha/m/rev');
  const part = page.getByRole('region', { name: 'Teams inside rev' });
  const team = part.getByRole('article', { name: 'Team alpha-rev-1' });
  await team.getByRole('link', { name: 'chief' }).waitFor();
  await team.getByRole('link', { name: 'ann' }).waitFor();
  const card = team.getByRole('article', { name: 'Question of chief' });
  await card.getByText('Which colour?').waitFor();
  await card.getByLabel('Your answer').fill('Blue');
  await card.getByRole('button', { name: 'Answer', exact: true }).click();
  await eventually(async () => (await client.call('task.show', { teamId: 'alpha', taskId: '1' })).result).toBe(
    'heard: The answer: Blue',
  );
  // The inner team is closed with its task, and can still be read.
  await part.getByText('Earlier teams').click();
  await part.getByRole('link', { name: 'alpha-rev-1' }).click();
  await page.locator('.team-head').getByRole('link', { name: 'rev of alpha' }).waitFor();
  expectQuiet(watched);
  await client.call('team.down', { teamId: 'alpha', force: true });
  expect((await client.call('team.show', { teamId: 'alpha-rev-1' })).status).toBe('cleaned-up');
});

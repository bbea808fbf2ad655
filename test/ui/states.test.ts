import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { STANDS_STILL } from '../../src/core/waiting.ts';
import { isInstalled, needTool } from '../tools.ts';
import { eventually, expectQuiet, follow, useBrowser, usePage } from './browser.ts';
import { scan } from './scan.ts';
import { useStage } from './stage.ts';
import { makeTeams } from './state-teams.ts';

const browser = useBrowser();
const stage = useStage();
const open = usePage(browser, stage);

beforeAll(async () => {
  if (isInstalled('chromium')) await makeTeams(stage().client);
});

/** Opens a team, and waits for how it is. */
async function look(page: Page, teamId: string, words: string | RegExp): Promise<void> {
  await follow(page, `/t/${teamId}?view=list`);
  await page.locator('.team-head .situation-text').getByText(words).waitFor();
}

const help = (page: Page, name: string) => page.locator('.team-head .situation-help').getByText(name, { exact: true });

test('each state of a team says what is the matter, and has the one button that helps', async (context) => {
  needTool(context, 'chromium');
  const { client } = stage();
  const watched = await open('/');
  const { page } = watched;

  // The list of teams has the same words and buttons.
  const rows = page.getByRole('table', { name: 'Open teams' }).getByRole('row');
  const texts = async (): Promise<string> => (await rows.allInnerTexts()).join('\n');
  await eventually(texts).toMatch(/Needs you: permission of ann[^]*Answer/);
  for (const words of [
    /Stuck: #1 failed and 2 wait for it\s+Open #1/,
    /Nobody can take 2 tasks: no member runs that could\s+Open/,
    /Limited until .*\(claude\)\s+Try now/,
    /Silent for 1[23] min: ann\s+Open ann/,
    /1 task failed, 0 completed\s+Open #1/,
  ]) {
    expect(await texts()).toMatch(words);
  }
  expect(await scan(page, { include: ['.page'] })).toEqual([]);

  await look(page, 'asks', 'Needs you: permission of ann');
  await help(page, 'Answer').click();
  await page.locator('.queue-detail').getByText('npm publish').waitFor();

  await look(page, 'stuck', 'Stuck: #1 failed and 2 wait for it');
  await help(page, 'Open #1').click();
  const sheet = page.getByRole('dialog', { name: 'Task 1: Draw the map' });
  await sheet.locator('pre').getByText('no paper').waitFor();
  await sheet.getByRole('button', { name: 'Reopen' }).click();
  await eventually(async () => (await client.call('task.show', { teamId: 'stuck', taskId: '1' })).status).toBe(
    'pending',
  );

  await look(page, 'empty', 'Nobody can take 2 tasks: no member runs that could');
  await help(page, 'Add a member').click();
  await page.getByRole('dialog', { name: 'Spawn a teammate' }).getByLabel('Run by').waitFor();
  await page.keyboard.press('Escape');

  await look(page, 'limited', /^Limited until /);
  await help(page, 'Try now').click();
  await page.locator('.team-head .situation-text').getByText('Quiet').waitFor();
  expect(await client.call('account.list', { teamId: 'limited' })).toEqual([
    expect.not.objectContaining({ limit: expect.anything() }),
  ]);

  await look(page, 'silent', /^Silent for 1[23] min: ann$/);
  await help(page, 'Open ann').click();
  await page.getByRole('heading', { name: 'ann' }).waitFor();
  await page.locator('.facts > div', { hasText: 'Silent' }).getByText('nothing heard').waitFor();

  // A process can stand still without a turn.
  await client.call('task.release', { teamId: 'silent', taskId: '1' }, { as: 'ann' });
  const waiting = { reason: STANDS_STILL, silentSince: Date.now() - 20 * 60_000 };
  await client.call('member.update', { teamId: 'silent', memberId: 'ann', metadata: { waiting } }, { as: 'ann' });
  await look(page, 'silent', /^Silent for 2[01] min: ann$/);
  const card = page.locator('.side .member', { hasText: 'ann' });
  await eventually(() => card.innerText()).toMatch(/silent for 2[01]m: its process gives no sign of life/);

  await look(page, 'failed', '1 task failed, 0 completed');
  await help(page, 'Open #1').click();
  await page
    .getByRole('dialog', { name: 'Task 1: Call the printer' })
    .locator('pre')
    .getByText('nobody answers')
    .waitFor();
  expectQuiet(watched);
});

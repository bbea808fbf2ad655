import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { isInstalled, needTool } from '../tools.ts';
import { eventually, expectQuiet, follow, useBrowser, usePage } from './browser.ts';
import { scan } from './scan.ts';
import { useStage } from './stage.ts';

const browser = useBrowser();
const stage = useStage();
const open = usePage(browser, stage);

const MINUTE = 60_000;

/** Makes a team with a member, which has done nothing yet; functions need no process. */
async function makeTeam(client: Client, teamId: string, ...titles: readonly string[]): Promise<void> {
  await client.call('team.create', { name: teamId });
  await client.call('member.add', { teamId, name: 'ann', status: 'idle', agent: { kind: 'function' } });
  for (const title of titles) await client.call('task.create', { teamId, title });
}

/** Makes one team for each state. */
async function makeTeams(client: Client): Promise<void> {
  await makeTeam(client, 'asks', 'Send the letters');
  await client.call('task.claim', { teamId: 'asks', taskId: '1' }, { as: 'ann' });
  const asked = { kind: 'permission', memberId: 'ann', content: 'npm publish' } as const;
  await client.call('request.raise', { teamId: 'asks', ...asked }, { as: 'ann' });

  await makeTeam(client, 'stuck', 'Draw the map');
  const after = { teamId: 'stuck', dependencies: ['1'] };
  for (const title of ['Colour it', 'Print it']) await client.call('task.create', { ...after, title });
  await client.call('task.claim', { teamId: 'stuck', taskId: '1' }, { as: 'ann' });
  await client.call('task.fail', { teamId: 'stuck', taskId: '1', reason: 'no paper' }, { as: 'ann' });
  await client.call('member.update', { teamId: 'stuck', memberId: 'ann', status: 'idle' }, { as: 'ann' });

  await makeTeam(client, 'empty', 'Water the plants', 'Feed the cat');
  await client.call('member.stop', { teamId: 'empty', memberId: 'ann' });

  await makeTeam(client, 'limited', 'Count the stars');
  await client.call('member.update', { teamId: 'limited', memberId: 'ann', account: 'claude' }, { as: 'ann' });
  const limit = { cause: 'limited', resetsAt: Date.now() + 60 * MINUTE, reason: 'usage limit' } as const;
  await client.call('account.report', { teamId: 'limited', memberId: 'ann', ...limit }, { as: 'ann' });

  await makeTeam(client, 'silent', 'Read the archive');
  await client.call('task.claim', { teamId: 'silent', taskId: '1' }, { as: 'ann' });
  const waiting = { reason: 'nothing heard', silentSince: Date.now() - 12 * MINUTE };
  await client.call('member.update', { teamId: 'silent', memberId: 'ann', metadata: { waiting } }, { as: 'ann' });

  await makeTeam(client, 'failed', 'Call the printer');
  await client.call('task.claim', { teamId: 'failed', taskId: '1' }, { as: 'ann' });
  await client.call('task.fail', { teamId: 'failed', taskId: '1', reason: 'nobody answers' }, { as: 'ann' });
  await client.call('member.update', { teamId: 'failed', memberId: 'ann', status: 'idle' }, { as: 'ann' });
}

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

  await look(page, 'failed', '1 task failed, 0 completed');
  await help(page, 'Open #1').click();
  await page
    .getByRole('dialog', { name: 'Task 1: Call the printer' })
    .locator('pre')
    .getByText('nobody answers')
    .waitFor();
  expectQuiet(watched);
});

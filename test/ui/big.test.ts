import { expect, test } from 'vitest';
import { needTool } from '../tools.ts';
import { BIG, writeBigTeam } from './big-team.ts';
import { eventually, expectQuiet, openPage, useBrowser } from './browser.ts';
import { setStage, useDashboard } from './stage.ts';

useDashboard();
const browser = useBrowser();

test('a team of 1,000 tasks, 50 members and 10,000 messages is shown whole, draws little, and follows', async (context) => {
  needTool(context, 'chromium');
  const { client } = await setStage(writeBigTeam);
  const watched = await openPage(browser(), client, '/t/big?view=list');
  const { page } = watched;
  await page.locator('.list-body .list-row').first().waitFor();
  expect(await page.locator('.team-count').innerText()).toBe(`560 of ${BIG.tasks}`);
  // Rows that nobody sees are not there, and the last one is reached.
  expect(await page.locator('.list-body .list-row').count()).toBeLessThan(60);
  await page.locator('.list-body').focus();
  await page.keyboard.press('End');
  await page.locator('.list-row[aria-rowindex="1001"]').waitFor();

  // From afar: every task, all edges as one path, no text. Near: what is on the screen.
  await page.keyboard.press('1');
  await page.locator('.graph[data-nodes="1000"]').waitFor();
  await eventually(() => page.locator('.node:not(.far)').count()).toBeGreaterThan(5);
  expect(await page.locator('.react-flow__node').count()).toBeLessThan(200);
  await page.getByRole('button', { name: 'The whole graph' }).click();
  await eventually(() => page.locator('.node.far').count()).toBe(BIG.tasks);
  expect(await page.locator('.react-flow__edge').count()).toBe(0);
  expect(await page.locator('.far-edges path').count()).toBe(1);

  await page.goto(`${new URL(page.url()).origin}/t/big/m/lead?tab=inbox`);
  await page.locator('.message').first().waitFor();
  expect(await page.locator('.message').count()).toBeLessThan(40);
  await page.locator('.inbox').focus();
  await page.keyboard.press('End');
  await eventually(() => page.locator('.inbox li:last-child .message').innerText()).toMatch(/Message \d+:/);

  await page.goto(`${new URL(page.url()).origin}/t/big?view=board`);
  await page.locator('.card').first().waitFor();
  await client.call('task.create', { teamId: 'big', title: 'One more', priority: 'critical' });
  await page.locator('.card').getByText('One more').waitFor();
  expectQuiet(watched);
});

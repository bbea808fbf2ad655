import { expect, test } from 'vitest';
import { isProof } from '../proof.ts';
import { needTool } from '../tools.ts';
import { BIG, writeBigTeam } from './big-team.ts';
import { eventually, expectQuiet, follow, openPage, useBrowser } from './browser.ts';
import { setStage, useDashboard } from './stage.ts';

useDashboard();
const browser = useBrowser();

/** How much of the big team: enough to detect a page that draws all of it. */
const PART = isProof ? 1 : 0.3;
const TASKS = BIG.tasks * PART;

test(`a team of ${TASKS} tasks, ${BIG.members} members and ${BIG.messages * PART} messages is shown whole, draws only what is visible, and stays live`, async (context) => {
  needTool(context, 'chromium');
  const { client } = await setStage((home) => writeBigTeam(home, 'big', PART));
  const watched = await openPage(browser(), client, '/t/big?view=list&fold=none');
  const { page } = watched;
  await page.locator('.list-body .list-row').first().waitFor();
  expect(await page.locator('.team-count').innerText()).toBe(`${Math.round(0.56 * TASKS)} of ${TASKS}`);
  // Only visible rows exist, and the last one can be reached.
  expect(await page.locator('.list-body .list-row').count()).toBeLessThan(60);
  await page.locator('.list-body').focus();
  await page.keyboard.press('End');
  await page.locator(`.list-row[aria-rowindex="${TASKS + 1}"]`).waitFor();

  // Zoomed out: every task, all edges as one path, no text. Zoomed in: what is on the screen.
  await page.keyboard.press('1');
  await page.locator(`.graph[data-nodes="${TASKS}"]`).waitFor();
  await eventually(() => page.locator('.node:not(.far)').count()).toBeGreaterThan(5);
  expect(await page.locator('.react-flow__node').count()).toBeLessThan(0.5 * TASKS);
  await page.getByRole('button', { name: 'The whole graph' }).click();
  await eventually(() => page.locator('.node.far').count()).toBe(TASKS);
  expect(await page.locator('.react-flow__edge').count()).toBe(0);
  expect(await page.locator('.far-edges path').count()).toBe(1);

  await follow(page, `/t/big/m/lead?tab=inbox`);
  await page.locator('.message').first().waitFor();
  expect(await page.locator('.message').count()).toBeLessThan(40);
  await page.locator('.inbox').focus();
  await page.keyboard.press('End');
  await eventually(() => page.locator('.inbox li:last-child .message').innerText()).toMatch(/Message \d+:/);

  await follow(page, `/t/big?view=board`);
  await page.locator('.card').first().waitFor();
  await client.call('task.create', { teamId: 'big', title: 'One more', priority: 'critical' });
  await page.locator('.card').getByText('One more').waitFor();
  expectQuiet(watched);
});

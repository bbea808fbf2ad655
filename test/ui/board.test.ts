import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, useBrowser, usePage } from './browser.ts';
import type { Look } from './browser.ts';
import { useStage } from './stage.ts';
import { writeStories } from './story.ts';

const browser = useBrowser();
const stage = useStage((home) => writeStories(home, ['moved', 'asked', 'ordered', 'keys']));
const open = usePage(browser, stage);

async function openBoard(team: string, look?: Look) {
  const watched = await open(`/t/${team}?view=board`, look);
  await watched.page.locator('.card').first().waitFor();
  const { client } = stage();
  const show = (taskId: string) => client.call('task.show', { teamId: team, taskId });
  return { ...watched, watched, client, show };
}

const card = (page: Page, id: string) => page.locator(`.card[data-task="${id}"]`);
const column = (page: Page, phase: string) => page.locator(`.column[data-phase="${phase}"]`);

/** Two key presses in one turn of the page's event loop: nothing is answered or drawn between them. */
const TWO_STEPS_UP = `for (let i = 0; i < 2; i++) {
  const init = { key: 'ArrowUp', shiftKey: true, bubbles: true, cancelable: true };
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', init));
}`;

/** Drags a card over a place. The page must show earlier changes first: a card that still moves is elsewhere. */
async function carry(page: Page, id: string, phase: string, y?: number): Promise<void> {
  // Scrolls the board if the card is far down; positions measured earlier are no longer valid.
  await card(page, id).hover({ position: { x: 20, y: 10 } });
  const to = await column(page, phase).boundingBox();
  if (!to) throw new Error('the column is not there');
  await page.mouse.down();
  // A card far down scrolls the board up, and a column's head behind the bar above.
  await page.mouse.move(to.x + to.width / 2, y ?? Math.max(to.y + 60, 240), { steps: 8 });
  await page.locator(`.card.taken[data-task="${id}"]`).waitFor();
}

/** Waits until the page shows a card in a column. */
const shows = (page: Page, id: string, phase: string) => column(page, phase).locator(`[data-task="${id}"]`).waitFor();

describe('the board', () => {
  test('moves a dragged card where the rules allow it, and says why where they do not', async (context) => {
    needTool(context, 'chromium');
    const team = 'moved';
    const { page, show, client, watched } = await openBoard(team);

    // From pending to completed, as for work that was done elsewhere.
    await carry(page, '24', 'completed');
    await column(page, 'completed').locator('.landing').getByText('Complete').waitFor();
    expect(await column(page, 'blocked').getAttribute('class')).toContain('may-not');
    await page.mouse.up();
    await eventually(async () => (await show('24')).status).toBe('completed');
    await shows(page, '24', 'completed');
    // The card was dragged, not opened.
    expect(page.url()).not.toContain('/task/');

    // And reopened.
    await carry(page, '24', 'pending');
    await page.mouse.up();
    await eventually(async () => (await show('24')).status).toBe('pending');
    await shows(page, '24', 'pending');

    // Taken from its holder.
    await carry(page, '15', 'pending');
    await column(page, 'pending').locator('.landing').getByText('Take it from bo').waitFor();
    await page.mouse.up();
    await eventually(async () => (await show('15')).status).toBe('pending');
    await shows(page, '15', 'pending');

    // A blocked task cannot be started. The reason shown is that of the rules.
    await carry(page, '16', 'in_progress');
    await column(page, 'in_progress')
      .locator('.landing')
      .getByText(/#16 .*10/)
      .waitFor();
    await page.mouse.up();
    await page
      .locator('.toast.failed')
      .getByText(/#16 .*10/)
      .waitFor();
    expect((await show('16')).status).toBe('blocked');

    // To complete it needs a confirmation.
    await carry(page, '16', 'completed');
    await column(page, 'completed').locator('.landing').getByText('though it is blocked').waitFor();
    await page.mouse.up();
    const sure = page.getByRole('dialog', { name: 'Complete #16 though it is blocked?' });
    await sure.getByText(/It waits for task 10/).waitFor();
    await sure.getByRole('button', { name: 'Cancel' }).click();
    await sure.waitFor({ state: 'detached' });
    expect((await show('16')).status).toBe('blocked');

    // Escape ends the drag.
    await carry(page, '17', 'completed');
    await page.keyboard.press('Escape');
    await page.locator('.in-hand').waitFor({ state: 'detached' });
    await page.mouse.up();
    expect((await show('17')).status).toBe('pending');

    // Assigned to a member, then failed with a reason.
    await carry(page, '17', 'in_progress');
    await page.mouse.up();
    const give = page.getByRole('dialog', { name: 'Give #17 to' });
    await give.getByLabel('Member').selectOption('finn');
    await give.getByRole('button', { name: 'Give' }).click();
    await eventually(async () => (await show('17')).assigneeId).toBe('finn');
    await give.waitFor({ state: 'detached' });
    await card(page, '17').getByText('finn').waitFor();
    await carry(page, '17', 'failed');
    await page.mouse.up();
    await page.getByRole('dialog', { name: 'Fail #17' }).getByLabel('Why').fill('Nobody needs it');
    await page.getByRole('button', { name: 'Fail it' }).click();
    await eventually(async () => (await show('17')).failure).toBe('Nobody needs it');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await shows(page, '17', 'failed');

    // A confirmation about a blocked task is void once the task is no longer blocked.
    await carry(page, '16', 'completed');
    await page.mouse.up();
    await sure.getByText(/It waits for task 10/).waitFor();
    const { dependencies } = await show('16');
    await client.call('task.undepend', { teamId: team, taskId: '16', dependencies });
    await sure.getByRole('alert').getByText('now it is pending').waitFor();
    expect(await sure.getByRole('button', { name: 'Complete' }).isDisabled()).toBe(true);
    expectQuiet(watched);
  });

  test('does not give or fail a task that changed while the dialog was open', async (context) => {
    needTool(context, 'chromium');
    const team = 'asked';
    const { page, show, client, watched } = await openBoard(team);
    await carry(page, '24', 'in_progress');
    await page.mouse.up();
    const give = page.getByRole('dialog', { name: 'Give #24 to' });
    await give.getByLabel('Member').selectOption('finn');
    await client.call('task.claim', { teamId: team, taskId: '24' }, { as: 'cleo' });
    await give.getByRole('alert').getByText('now it is in progress, held by cleo').waitFor();
    expect(await give.getByRole('button', { name: 'Give' }).isDisabled()).toBe(true);
    await give.getByRole('button', { name: 'Cancel' }).click();
    await give.waitFor({ state: 'detached' });
    await shows(page, '24', 'in_progress');

    await carry(page, '24', 'failed');
    await column(page, 'failed').locator('.landing').getByText('Fail').waitFor();
    await page.mouse.up();
    const fail = page.getByRole('dialog', { name: 'Fail #24' });
    await fail.getByLabel('Why').fill('Nobody needs it');
    await client.call('task.release', { teamId: team, taskId: '24' });
    await fail.getByRole('alert').getByText('now it is pending').waitFor();
    expect(await fail.getByRole('button', { name: 'Fail it' }).isDisabled()).toBe(true);
    await fail.getByRole('button', { name: 'Cancel' }).click();
    expect(await show('24')).toMatchObject({ status: 'pending' });
    expectQuiet(watched);
  });

  test('orders a column by dragging: the card takes the priority of its new place', async (context) => {
    needTool(context, 'chromium');
    const team = 'ordered';
    const { page, show, client, watched } = await openBoard(team);
    await client.call('task.create', { teamId: team, title: 'Soon', priority: 'high' });
    await card(page, '25').waitFor();
    const ids = () =>
      column(page, 'pending')
        .locator('[data-task]')
        .evaluateAll((cards) => cards.map((one) => (one as unknown as { dataset: { task: string } }).dataset.task));
    expect(await ids()).toEqual(['25', '17', '24']);
    // Drags the last card above all others.
    const top = await card(page, '25').boundingBox();
    await carry(page, '24', 'pending', (top?.y ?? 0) + 2);
    await column(page, 'pending').locator('.drop-line').getByText('priority high').waitFor();
    await page.mouse.up();
    await eventually(async () => (await show('24')).priority).toBe('high');
    await eventually(ids).toEqual(['24', '25', '17']);
    expectQuiet(watched);
  });

  test('can be used with keys alone, and the focus stays on the card', async (context) => {
    needTool(context, 'chromium');
    const team = 'keys';
    // With animations, as most people have them.
    const { page, show, watched } = await openBoard(team, { reducedMotion: 'no-preference' });
    const focused = () => page.evaluate(`document.activeElement?.closest('[data-task]')?.dataset.task`);
    await card(page, '17').locator('a').focus();
    await page.keyboard.press('ArrowDown');
    await eventually(focused).toBe('24');
    // Quick key presses all count, even before the page shows the first of them.
    expect((await show('24')).priority).toBe('low');
    await page.evaluate(TWO_STEPS_UP);
    await eventually(async () => (await show('24')).priority).toBe('high');
    await eventually(focused).toBe('24');
    // The next step starts from the new priority. Only an unusual priority has a mark.
    await card(page, '24').locator('.priority').waitFor();
    await page.keyboard.press('Shift+ArrowUp');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowUp');
    await page.getByText('#24 has critical priority now').first().waitFor();
    await eventually(async () => (await show('24')).priority).toBe('high');
    // The next column that takes the card asks for a member. The column after it is reached through the menu.
    await page.keyboard.press('Shift+ArrowRight');
    await page.getByRole('dialog', { name: 'Give #24 to' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await card(page, '24').locator('a').focus();
    await page.keyboard.press('m');
    const menu = page.getByRole('menu', { name: 'Move #24' });
    await menu.getByRole('menuitem', { name: /^Completed/ }).waitFor();
    expect(await menu.getByRole('menuitem', { name: /^Blocked/ }).getAttribute('aria-disabled')).toBe('true');
    await menu.getByRole('menuitem', { name: /^Completed/ }).press('Enter');
    await eventually(async () => (await show('24')).status).toBe('completed');
    await eventually(() => column(page, 'completed').locator('[data-task="24"] a:focus').count()).toBe(1);
    await page.keyboard.press('Shift+ArrowLeft');
    await eventually(() => column(page, 'pending').locator('[data-task="24"] a:focus').count()).toBe(1);
    await page.keyboard.press('ArrowRight');
    await eventually(focused).not.toBe('24');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: /^Task / }).waitFor();
    expectQuiet(watched);
  });
});

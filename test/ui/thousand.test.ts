import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, follow, pressInRow, useBrowser, usePage } from './browser.ts';
import { scan } from './scan.ts';
import { useStage } from './stage.ts';
import { RARE, WIDE, writeWideTeam } from './wide-team.ts';

const browser = useBrowser();
const stage = useStage((home) => writeWideTeam(home, 'wide'));
const open = usePage(browser, stage);

/** Runs in the page: the smallest text in the graph, as it is on the screen. */
const SMALLEST = `(() => {
  const zoom = new DOMMatrix(getComputedStyle(document.querySelector('.react-flow__viewport')).transform).a;
  const texts = [...document.querySelectorAll('.react-flow__viewport *')].filter(
    (one) => [...one.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== '') &&
      one.checkVisibility() && !one.closest('.avatar'),
  );
  return { zoom, count: texts.length, smallest: Math.min(...texts.map((one) => parseFloat(getComputedStyle(one).fontSize) * zoom)) };
})()`;

interface Smallest {
  readonly zoom: number;
  readonly count: number;
  readonly smallest: number;
}

/** The moves of the graph: its place and zoom. */
function transformOf(page: Page): Promise<string> {
  return page
    .locator('.react-flow__viewport')
    .evaluate((one) => (one as unknown as { style: { transform: string } }).style.transform);
}

/** Keeps what the page copies: a headless browser has no clipboard of its own. */
async function watchCopies(page: Page): Promise<() => Promise<string>> {
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', {
    configurable: true, value: { writeText: async (text) => { globalThis.copied = text; } },
  })`);
  return async () => {
    const address = (await page.evaluate('globalThis.copied')) as string | undefined;
    return address === undefined ? '' : address.replace(/^https?:\/\/[^/]+/, '');
  };
}

describe(`a team of ${WIDE.tasks} tasks and ${WIDE.messages} messages`, () => {
  test('alike tasks are one node, which unfolds; a filter fits the graph to what it finds; an opened task is in sight', async (context) => {
    needTool(context, 'chromium');
    const watched = await open('/t/wide?view=graph');
    const { page } = watched;
    const nodes = async (): Promise<number> => Number(await page.locator('.graph').getAttribute('data-nodes'));
    // 1 + 20 beginnings + 20 ends; 19 folds; of the first package 2 folds, 3 in progress and 1 failed.
    await eventually(nodes).toBe(66);
    const before = await transformOf(page);
    await page.locator('.node.fold.is-completed').getByText('30 tasks').click();
    await eventually(nodes).toBe(66 + WIDE.done);
    await page.locator('.node.fold.is-completed').getByText('30 tasks').waitFor();
    await page.locator('.node.fold.is-completed').click();
    await eventually(nodes).toBe(66);
    // While it was unfolded, the view may have moved.
    await eventually(() => transformOf(page)).toBe(before);

    await page.getByLabel('Filter tasks').fill('package 13');
    await eventually(() => page.locator('.found-count').innerText()).toBe('50 of 1,001');
    await eventually(() => transformOf(page)).not.toBe(before);
    await eventually(() => page.locator('.node:not(.dim):not(.far)').count()).toBe(3);
    for (const one of await page.locator('.node:not(.dim)').all()) expect(await isInSight(page, one)).toBe(true);
    // Text is readable at every zoom, or not there.
    for (let i = 0; i < 12; i++) {
      const { zoom, count, smallest } = (await page.evaluate(SMALLEST)) as Smallest;
      if (zoom >= 0.36) expect(count).toBeGreaterThan(0);
      if (count > 0) expect(smallest).toBeGreaterThanOrEqual(10.99);
      await page.getByRole('button', { name: 'Zoom out' }).click();
      await eventually(() => page.evaluate(SMALLEST).then((now) => (now as Smallest).zoom)).not.toBe(zoom);
      if (zoom < 0.15) break;
    }

    await page.getByRole('button', { name: 'Clear' }).click();
    await eventually(() => transformOf(page)).toBe(before);

    // A task of a fold is shown alone while it is open, in the part of the graph that the sheet leaves free.
    await follow(page, '/t/wide/task/930?view=graph');
    await page.getByRole('dialog', { name: /Task 930/ }).waitFor();
    const opened = page.locator('.react-flow__node[data-id="930"]');
    await opened.waitFor();
    await eventually(() => isInSight(page, opened)).toBe(true);
    const [box, sheet] = await Promise.all([opened.boundingBox(), page.locator('.sheet').boundingBox()]);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(sheet?.x ?? 0);
    await page.keyboard.press('Escape');

    // The small map goes where one clicks and drags.
    const map = await page.locator('.small-map-box').boundingBox();
    if (!map) throw new Error('there is no map');
    const here = await transformOf(page);
    await page.mouse.move(map.x + map.width / 2, map.y + 12);
    await page.mouse.down();
    await eventually(() => transformOf(page)).not.toBe(here);
    const there = await transformOf(page);
    await page.mouse.move(map.x + map.width / 2, map.y + map.height - 12, { steps: 3 });
    await page.mouse.up();
    await eventually(() => transformOf(page)).not.toBe(there);
    await page.getByRole('button', { name: 'Unfold all alike tasks' }).click();
    await eventually(nodes).toBe(WIDE.tasks);
    expectQuiet(watched);
  });

  test('one search finds what is anywhere, and each hit leads to its place', async (context) => {
    needTool(context, 'chromium');
    const watched = await open('/t/wide?view=list');
    const { page } = watched;
    await page.locator('.list-row').nth(2).waitFor();
    await pressInRow(page, 'g', 's');
    await page.getByLabel('Search everything').fill(RARE.toLowerCase());
    await eventually(() => page.locator('.search-count').innerText()).toBe('3 found');
    const groups = await page.locator('.found-group h2').allInnerTexts();
    expect(groups.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual(['Notes 1', 'Messages 1', 'Transcripts 1']);
    expect(await scan(page, { include: ['main'] })).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.locator('.note[aria-current]').getByText(RARE).waitFor();
    await page.goBack();
    await page.locator('.found-group[aria-label="Messages"] a').click();
    await page.locator('.message[aria-current]').getByText(RARE).waitFor();
    await page.goBack();
    await page.locator('.found-group[aria-label="Transcripts"] a').click();
    await page.locator('.log').getByText(`There is the ${RARE}.`).waitFor();
    await page.goBack();
    await page.getByLabel('Search everything').fill('#17');
    await page.locator('.found-group[aria-label="Tasks"] a').first().click();
    await page.getByRole('dialog', { name: /Task 17/ }).waitFor();
    expectQuiet(watched);
  });

  test('several tasks are changed at once, after a preview that says what is refused and why', async (context) => {
    needTool(context, 'chromium');
    const watched = await open('/t/wide?view=list&q=of%20package%201');
    const { page } = watched;
    const { client } = stage();
    const show = (taskId: string) => client.call('task.show', { teamId: 'wide', taskId });
    // The first rows: what failed, what is in progress.
    const box = (id: string) => page.getByLabel(`Choose #${id}`, { exact: true });
    await box('45').click();
    await box('43').click({ modifiers: ['Shift'] });
    await eventually(() => page.locator('.bulk-count').innerText()).toBe('4 chosen');
    // The list of events leaves the bar free, on a desktop and on a phone.
    await page.getByRole('button', { name: 'Events', exact: true }).click();
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const [events, bar] = [page.locator('.event-list'), page.locator('.bulk')];
      await eventually(async () => {
        const [above, below] = [await events.boundingBox(), await bar.boundingBox()];
        return above && below && above.y >= 0 && above.y + above.height <= below.y;
      }).toBe(true);
    }
    await page.getByRole('button', { name: 'Fold the events' }).click();
    await page.locator('.bulk').getByRole('button', { name: 'Release…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('3 tasks will change, 1 is refused.').waitFor();
    expect(await dialog.locator('[data-state=refused]').innerText()).toMatch(/#45[^]*nobody holds it/);
    expect((await show('41')).status).toBe('in_progress');
    // Meanwhile somebody finishes one of them.
    await client.call('task.complete', { teamId: 'wide', taskId: '41', result: 'done' }, { as: 'member-1' });
    await dialog.getByRole('button', { name: 'Release 3 tasks' }).click();
    await dialog.getByText('2 of 3 tasks done, 1 failed.').waitFor();
    expect(await dialog.locator('[data-state=failed]').innerText()).toContain('#41');
    expect(await scan(page, { include: ['[role=dialog]'] })).toEqual([]);
    expect((await show('42')).status).toBe('pending');
    // Escape is for the bar, also in the moment in which the dialog is about to leave the page.
    const isStillThere = await page.evaluate(`(async () => {
      const dialog = document.querySelector('[role=dialog]');
      [...dialog.querySelectorAll('button')].find(({ textContent }) => textContent === 'Close').click();
      await Promise.resolve();
      const isThere = dialog.isConnected;
      dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
      return isThere;
    })()`);
    expect(isStillThere).toBe(true);
    await page.locator('.bulk').waitFor({ state: 'detached' });

    // On the board, by key.
    await page.keyboard.press('2');
    await page.locator('[data-task="45"] a').focus();
    await page.keyboard.press('x');
    await page.locator('.bulk').getByRole('button', { name: 'Retry…' }).click();
    await dialog.getByRole('button', { name: 'Retry 1 task' }).click();
    await dialog.getByText('1 of 1 task done.').waitFor();
    expect((await show('45')).status).toBe('pending');
    expectQuiet(watched);
  });

  test('the time line zooms by button, key and wheel, and back', async (context) => {
    needTool(context, 'chromium');
    const watched = await open('/t/wide?view=list');
    const { page } = watched;
    const slider = page.getByRole('slider', { name: 'Moment' });
    await slider.waitFor();
    const first = async (): Promise<number> => Number(await slider.getAttribute('min'));
    expect(await first()).toBe(1);
    await page.getByRole('button', { name: 'Zoom the time line in' }).click();
    await eventually(first).toBeGreaterThan(1);
    const once = await first();
    await slider.focus();
    await page.keyboard.press('+');
    await eventually(first).toBeGreaterThan(once);
    await page.keyboard.press('0');
    await eventually(first).toBe(1);
    const track = await page.locator('.track').boundingBox();
    await page.mouse.move((track?.x ?? 0) + 4, (track?.y ?? 0) + 10);
    await page.mouse.wheel(0, -400);
    await page.locator('.track-part').waitFor();
    // Around the pointer, so the beginning stays in sight, and the end does not.
    expect(await first()).toBeLessThan(10);
    const last = Number(await slider.getAttribute('max'));
    await page.getByRole('button', { name: 'The whole time line' }).click();
    await eventually(async () => Number(await slider.getAttribute('max'))).toBeGreaterThan(last);
    expectQuiet(watched);
  });

  test('a link to a team, task, member, message, moment or request is copied, and opens it', async (context) => {
    needTool(context, 'chromium');
    const watched = await open('/t/wide/task/41?view=list');
    const { page } = watched;
    const { client } = stage();
    const copied = await watchCopies(page);
    const copy = async (what: string | RegExp): Promise<string> => {
      const before = await copied();
      await page.getByRole('button', { name: what }).first().click();
      await eventually(copied).not.toBe(before);
      return copied();
    };
    expect(await copy('Copy a link to #41')).toBe('/t/wide/task/41');
    await page.keyboard.press('Escape');
    await page.keyboard.press('[');
    const moment = await copy('Copy a link to this moment');
    expect(moment).toMatch(/^\/t\/wide\?at=\d+$/);
    await page.keyboard.press('l');
    await page.getByRole('button', { name: 'Team actions' }).click();
    await page.getByRole('menuitem', { name: 'Copy a link to this team' }).click();
    await eventually(copied).toBe('/t/wide');

    await follow(page, '/t/wide/m/member-3?tab=inbox');
    expect(await copy('Copy a link to member-3')).toBe('/t/wide/m/member-3');
    await page.locator('.message').nth(2).hover();
    const message = await copy('Copy a link to this message');
    await follow(page, '/');
    await follow(page, message);
    await page.locator('.message[aria-current]').waitFor();

    // A link to a request shows it also when it is answered.
    const question = { teamId: 'wide', kind: 'permission', memberId: 'member-5', content: 'rm -rf build' } as const;
    const { id } = await client.call('request.raise', question, { as: 'member-5' });
    await follow(page, '/queue');
    await page.locator('.queue-detail').getByText('rm -rf build').first().waitFor();
    const request = await copy('Copy a link to this request');
    expect(request).toBe(`/queue?id=${encodeURIComponent(`wide/${id}`)}`);
    await client.call('request.answer', { teamId: 'wide', requestId: id, approve: false });
    await follow(page, '/');
    await follow(page, request);
    await page.locator('.queue-detail').getByText('rm -rf build').first().waitFor();
    await page.locator('.queue-detail .answered').waitFor();
    expectQuiet(watched);
  });

  test('settings: the theme, the time zone, and what the daemon is set to', async (context) => {
    needTool(context, 'chromium');
    const watched = await open('/settings');
    const { page } = watched;
    const shade = (): Promise<unknown> => page.evaluate('document.documentElement.dataset.theme');
    const theme = page.getByRole('group', { name: 'Theme' });
    await theme.getByRole('button', { name: 'Dark' }).click();
    expect(await shade()).toBe('dark');
    await page.locator('.setting-facts').getByText('sqlite').waitFor();
    expect(await scan(page)).toEqual([]);
    // The system prefers light in this window.
    await theme.getByRole('button', { name: 'System' }).click();
    expect(await shade()).toBe('light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await eventually(shade).toBe('dark');
    await page.getByRole('group', { name: 'Times' }).getByRole('button', { name: 'UTC' }).click();
    const hours = new Date().toISOString().slice(11, 13);
    await eventually(() => page.getByText(/Now it is/).innerText()).toMatch(
      new RegExp(` (${hours}|${new Date(Date.now() + 60_000).toISOString().slice(11, 13)}):`),
    );
    await page.emulateMedia({ colorScheme: 'light' });
    expectQuiet(watched);
  });
});

/** Whether all of a node is in the visible part of the graph. */
async function isInSight(page: Page, node: ReturnType<Page['locator']>): Promise<boolean> {
  const [box, graph] = await Promise.all([node.boundingBox(), page.locator('.graph').boundingBox()]);
  if (!box || !graph) return false;
  const slack = 1;
  return (
    box.x >= graph.x - slack &&
    box.y >= graph.y - slack &&
    box.x + box.width <= graph.x + graph.width + slack &&
    box.y + box.height <= graph.y + graph.height + slack
  );
}

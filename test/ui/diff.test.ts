import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { isInstalled, needTool } from '../tools.ts';
import { eventually, expectQuiet, follow, openPage, useBrowser, usePage } from './browser.ts';
import { describeReview } from './review-page.ts';
import { scan } from './scan.ts';
import { useStage } from './stage.ts';
import { describeTaking } from './take-work.ts';
import { HOSTILE_LINES, LONG_LINES, playOverlap, playQueue, playWork, writeWorkTeam } from './work-team.ts';

const TEAM = 'words';
const PHONE = { viewport: { width: 390, height: 844 } } as const;

const browser = useBrowser();
const stage = useStage((home) => writeWorkTeam(home, TEAM));
const open = usePage(browser, stage);

const filesOf = (page: Page) => page.getByRole('navigation', { name: 'Changed files' });
/** The file that is read, and the head of the one at the top. */
const currentOf = (page: Page) => filesOf(page).locator('[aria-current]').getAttribute('title');
const topOf = (page: Page) => page.locator('.diff-row.is-top .diff-path').innerText();
const sizeOf = (page: Page, text: string) => page.locator('.diff-size', { hasText: text }).waitFor();
const rowsOf = (page: Page): Promise<number> => page.locator('.diff-row').count();

async function jumpTo(page: Page, path: string): Promise<void> {
  await filesOf(page).getByTitle(path, { exact: true }).click();
  await eventually(() => currentOf(page)).toBe(path);
}

/** Whether something is wider than the page. */
const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate(
    `document.documentElement.scrollWidth > innerWidth || [...document.querySelectorAll('.diff-scroll')].some((box) => box.scrollWidth > box.clientWidth)`,
  );

/** How many rows do not begin where the one above ends. */
const countGaps = (page: Page): Promise<number> =>
  page.evaluate(`(() => {
    const rows = [...document.querySelectorAll('.diff-row:not(.is-top)')].map((row) => [Number(row.dataset.index), row.getBoundingClientRect()]);
    return rows.filter(([index, box]) => rows.some(([next, below]) => next === index + 1 && Math.abs(below.top - box.bottom) > 1)).length;
  })()`);

/** What a scan finds wrong. The window is low, so that it has few rows: a scan of many takes long. */
async function findFaults(
  page: Page,
  { width, rules }: { width: number; rules?: readonly string[] },
): Promise<string[]> {
  await page.setViewportSize({ width, height: 400 });
  await eventually(() => rowsOf(page)).toBeLessThan(60);
  return scan(page, { include: ['.diff-page'], exclude: ['.diff-row:nth-child(n + 12)'], ...(rules && { rules }) });
}

describe('the diff', () => {
  beforeAll(async () => {
    if (isInstalled('chromium')) await playWork(stage().client, TEAM);
  });

  test('of the branch has its files with counts, unified and side by side, and says what else changed', async (context) => {
    needTool(context, 'chromium');
    const watched = await open(`/t/${TEAM}/diff`);
    const { page } = watched;
    await sizeOf(page, '12 files');
    expect(await filesOf(page).getByRole('button').count()).toBe(12);
    expect(await filesOf(page).getByTitle('src/parser.ts', { exact: true }).innerText()).toMatch(/\+3\s*−6/);
    await jumpTo(page, 'docs/new-name.md');
    expect(await topOf(page)).toBe('docs/old-name.md → docs/new-name.md');
    await jumpTo(page, 'dos.txt');
    const pairs = page.locator('.diff-pair');
    await eventually(() => pairs.filter({ hasText: 'second' }).allInnerTexts()).toEqual([
      expect.stringMatching(/2\s*−\s*second\s*CR\s*2\s*\+\s*second$/),
    ]);
    await page.getByRole('button', { name: 'Unified' }).click();
    await eventually(() => pairs.count()).toBe(0);
    // The switch keeps what is read at its place.
    await eventually(() => topOf(page)).toBe('dos.txt');
    const lines = page.locator('.diff-line');
    await eventually(() => lines.filter({ hasText: 'second' }).count()).toBe(2);
    await jumpTo(page, 'new.txt');
    await lines.filter({ hasText: 'no newline at the end' }).getByText('no newline', { exact: true }).waitFor();
    await page.locator('.diff-file', { hasText: 'scripts/run.sh' }).getByText('executable now').waitFor();
    await jumpTo(page, 'gone.txt');
    await page.locator('.diff-row.is-top').getByRole('img', { name: 'Deleted' }).waitFor();
    await jumpTo(page, 'src/parser.ts');
    // What changed in a line stands out.
    const changed = page.locator('.is-added .diff-changed');
    await eventually(async () => (await changed.allInnerTexts()).join('')).toBe("{ encoding: 'utf8' }");
    await eventually(() => page.locator('.hl-keyword').allInnerTexts()).toContain('export');
    await eventually(() => page.locator('.is-added .hl-comment').allInnerTexts()).toEqual([
      '// Tabs and newlines separate words, too.',
    ]);
    // A link to a file opens at it.
    await follow(page, '/');
    await follow(page, `/t/${TEAM}/diff?file=gone.txt`);
    await eventually(() => filesOf(page).locator('[aria-current]').count()).toBe(1);
    await eventually(() => currentOf(page)).toBe('gone.txt');
    expectQuiet(watched);
  });

  test('stays at a file that was chosen before its lines are here, in the other layout too', async (context) => {
    needTool(context, 'chromium');
    const watched = await open('/');
    const { page } = watched;
    for (const layout of ['Side by side', 'Unified'] as const) {
      const other = layout === 'Unified' ? 'Side by side' : 'Unified';
      await page.evaluate(`localStorage.setItem('diff', '${layout === 'Unified' ? 'unified' : 'split'}')`);
      // As soon as there is a list of files.
      await page.evaluate(`new MutationObserver((_, observer) => {
        const file = document.querySelector('.diff-files button[title="dos.txt"]');
        if (!file) return;
        observer.disconnect();
        file.click();
      }).observe(document.body, { childList: true, subtree: true })`);
      await follow(page, `/t/${TEAM}/diff`);
      const second = page.locator(layout === 'Unified' ? '.diff-line' : '.diff-pair', { hasText: 'second' });
      await second.first().waitFor();
      await eventually(() => page.locator('.diff-wait').count()).toBe(0);
      expect([await currentOf(page), await topOf(page)]).toEqual(['dos.txt', 'dos.txt']);
      for (const path of ['gone.txt', 'docs/new-name.md', 'dos.txt']) {
        const switched = path === 'docs/new-name.md' ? layout : other;
        // Nothing was painted in between.
        await page.evaluate(`document.querySelector('.diff-files button[title="${path}"]').click();
          [...document.querySelectorAll('.switch button')].find((one) => one.innerText.includes('${switched}')).click()`);
        await page.getByRole('button', { name: switched, pressed: true }).waitFor();
        await eventually(() => currentOf(page)).toBe(path);
        await eventually(() => topOf(page)).toContain(path);
      }
      await follow(page, '/');
    }
    expectQuiet(watched);
  });

  test('holds only what is seen of thousands of lines, and keys move in it', async (context) => {
    needTool(context, 'chromium');
    const watched = await open(`/t/${TEAM}/diff/1`);
    const { page } = watched;
    await jumpTo(page, 'src/long.ts');
    await page.getByText(`${(2 * LONG_LINES).toLocaleString('en')} lines of this file changed.`).waitFor();
    await page.getByRole('button', { name: 'Show them' }).click();
    await page.locator('.diff-pair').getByText('let value0 ').waitFor();
    expect(await rowsOf(page)).toBeLessThan(150);
    const box = page.getByRole('group', { name: 'Changed lines' });
    await box.focus();
    await page.keyboard.press('End');
    await page.locator('.diff-file', { hasText: 'src/parser.ts' }).waitFor();
    await eventually(() => page.getByText(`let value${LONG_LINES - 1} `).count()).toBe(1);
    expect(await rowsOf(page)).toBeLessThan(150);
    // From the end back into the middle: each line is beside its successor.
    await page.evaluate(`{ const box = document.querySelector('.diff-scroll'); box.scrollTop = box.scrollHeight / 2 }`);
    await eventually(() => topOf(page)).toBe('src/long.ts');
    const pair = await page.locator('.diff-pair').first().innerText();
    const [, number] = /const value(\d+) /.exec(pair) ?? [];
    expect(pair).toContain(`let value${number} `);
    expect(await rowsOf(page)).toBeLessThan(150);

    await page.keyboard.press('j');
    await eventually(() => currentOf(page)).toBe('src/minified.js');
    await page.keyboard.press('k');
    await eventually(() => currentOf(page)).toBe('src/long.ts');
    await page.keyboard.press('o');
    await page.getByRole('button', { name: 'Unfold src/long.ts' }).waitFor();
    await page.keyboard.press('u');
    await eventually(() => page.getByRole('button', { name: 'Unified' }).getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.press('/');
    await page.keyboard.type('parser');
    await eventually(() => filesOf(page).getByRole('button').count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    expectQuiet(watched);
  });

  test('shows text as text: nothing runs or hides, and no line is wider than the page', async (context) => {
    needTool(context, 'chromium');
    const watched = await open(`/t/${TEAM}/diff`);
    const { page } = watched;
    for (const viewport of [{ width: 1440, height: 900 }, PHONE.viewport]) {
      await page.setViewportSize(viewport);
      if (viewport === PHONE.viewport) {
        const list = page.getByRole('button', { name: /of 12 files/ });
        await list.click();
        await filesOf(page).getByTitle('src/hostile.txt', { exact: true }).click();
        await eventually(() => list.innerText()).toBe('9 of 12 files');
      } else await jumpTo(page, 'src/hostile.txt');
      await page.locator('.diff-text', { hasText: HOSTILE_LINES[0] ?? '' }).waitFor();
      const controls = await page.locator('.diff-control').allInnerTexts();
      expect(controls).toEqual(expect.arrayContaining(['[U+202E]', '[U+2066]', '[U+200B]', '[U+001B]', '[U+2028]']));
      await page.locator('.diff-text', { hasText: '[U+202E] written as text' }).waitFor();
      expect(await isTooWide(page)).toBe(false);
      await eventually(() => countGaps(page)).toBe(0);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await jumpTo(page, 'src/minified.js');
    await page.getByRole('button', { name: '9,000 more characters' }).click();
    await page.getByText('5,905 more characters not shown').waitFor();
    expect(await isTooWide(page)).toBe(false);
    await jumpTo(page, 'logo.bin');
    await page.getByRole('button', { name: 'Show it as text' }).click();
    await page.locator('.diff-control', { hasText: '[U+0000]' }).waitFor();
    await jumpTo(page, 'huge.txt');
    await page.getByRole('button', { name: 'Show it', exact: true }).click();
    await page.locator('.diff-text', { hasText: 'yyyy' }).first().waitFor();
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expectQuiet(watched);
  });

  test('is linked from a task, a member and a moment, which say what became of the work', async (context) => {
    needTool(context, 'chromium');
    const { client } = stage();
    const watched = await open(`/t/${TEAM}/task/1?view=list`);
    const { page } = watched;
    const { work } = await client.call('task.show', { teamId: TEAM, taskId: '1' });
    const part = page.locator('.sheet-part', { has: page.getByRole('heading', { name: 'Work' }) });
    await part.getByText(`Landed as ${work?.merged?.slice(0, 7)}`).waitFor();
    await follow(page, `/t/${TEAM}/task/2?view=list`);
    await part.getByText('Conflicted, handed in as').waitFor();
    await part.getByText('It went back to bob').waitFor();
    expect(await part.locator('.work-paths').innerText()).toBe('common.txt');
    await part.getByRole('button', { name: 'Diff' }).click();
    await page.getByText('As it was handed in; it conflicts with the branch').waitFor();
    await page.locator('.is-added').getByText('two of bob').waitFor();
    await follow(page, `/t/${TEAM}/task/4?view=list`);
    await part.getByText('dan changed nothing').waitFor();
    expect(await part.getByRole('button').count()).toBe(0);
    await follow(page, `/t/${TEAM}/task/3?view=list`);
    await part.getByText('Begun by cid from').waitFor();

    await follow(page, `/t/${TEAM}/m/bob`);
    await page.locator('.member-work').getByText('Number the lines').waitFor();
    await follow(page, `/t/${TEAM}/m/cid`);
    const panel = page.locator('.member-work');
    await panel.getByText('1 file').waitFor();
    expect(await panel.innerText()).toMatch(/1 commit behind[^]*workspaces\/words\/cid/);
    await panel.getByRole('link', { name: 'Diff' }).click();
    await page.getByText('What it has not handed in').waitFor();
    await page.locator('.is-added').getByText('Read **this** first.').waitFor();

    await follow(page, `/t/${TEAM}?view=list`);
    await page.locator('.time-line [aria-expanded]').click();
    const landed = page.locator('.event-list li', { hasText: '#1 landed as' });
    await landed.getByRole('link', { name: 'Diff' }).click();
    await page.getByText('As it landed on the branch').waitFor();
    await page.getByRole('button', { name: /^As of/ }).waitFor();
    await sizeOf(page, '12 files');
    // The save of a moment that is past since something happened after it.
    await client.call('message.send', { teamId: TEAM, toId: 'cid', content: 'Go on.' });
    await follow(page, '/nothing/here');
    const { seq } = (await client.call('team.list', {})).find(({ id }) => id === TEAM) ?? { seq: 0 };
    await follow(page, `/t/${TEAM}/diff/cid?at=${seq - 1}`);
    await page.getByText(/Its last save · .* saved /).waitFor();
    await page.getByRole('button', { name: /^As of/ }).click();
    await page.getByText('What it has not handed in').waitFor();
    await follow(page, `/t/${TEAM}/diff/lead`);
    await page.getByText('lead has no workspace of its own.').waitFor();
    expectQuiet(watched);
  });

  test('offers newer work instead of replacing what is read, and can be used by everybody', async (context) => {
    needTool(context, 'chromium');
    const watched = await open(`/t/${TEAM}/diff`);
    const { page } = watched;
    await jumpTo(page, 'src/parser.ts');
    await page.locator('.hl-keyword').first().waitFor();
    expect(await findFaults(page, { width: 1440 })).toEqual([]);
    await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
    expect(await findFaults(page, { width: 390, rules: ['color-contrast', 'target-size'] })).toEqual([]);
    await page.evaluate(`document.documentElement.dataset.theme = 'light'`);
    await page.setViewportSize({ width: 1440, height: 900 });
    await stage().client.call('task.complete', { teamId: TEAM, taskId: '3' }, { as: 'cid' });
    await page.getByRole('button', { name: 'Read it again' }).getByText('There is more').waitFor();
    await sizeOf(page, '12 files');
    await page.getByRole('button', { name: 'Read it again' }).click();
    await sizeOf(page, '13 files');
    expectQuiet(watched);
  });
});

describeReview(TEAM, stage, open);

describe('files that several members change', () => {
  test('are a table by members, with those that conflict first', async (context) => {
    needTool(context, 'chromium');
    const { client } = stage();
    await playOverlap(client, TEAM);
    const watched = await open(`/t/${TEAM}?view=list`);
    const { page } = watched;
    const part = page.getByRole('region', { name: 'Overlaps' });
    await part.getByText('1 would conflict').waitFor();
    const rows = part.getByRole('row');
    await eventually(() => rows.allInnerTexts()).toEqual([
      expect.stringMatching(/eve[^]*fay/),
      expect.stringMatching(/first-chapter\.md[^]*conflicts[^]*conflicts/),
      expect.stringMatching(/common\.txt[^]*changed it[^]*changed it/),
      expect.stringMatching(/<b>name[^]*changed it[^]*changed it/),
    ]);
    expect(await scan(page, { include: ['.overlaps'], rules: 'all' })).toEqual([]);
    await part.getByRole('link', { name: 'eve' }).click();
    await filesOf(page).getByTitle('common.txt', { exact: true }).waitFor();
    expectQuiet(watched);
  });

  test('fit on a phone, among the members', async (context) => {
    needTool(context, 'chromium');
    const touch = { ...PHONE, hasTouch: true, isMobile: true };
    const { page } = await openPage(browser(), stage().client, `/t/${TEAM}?view=members`, touch);
    const part = page.getByRole('region', { name: 'Overlaps' });
    await part.getByText('common.txt').waitFor();
    expect(await part.count()).toBe(1);
    const { width = 0, height = 0 } = (await part.getByRole('link', { name: 'eve' }).boundingBox()) ?? {};
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(44);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });
});

describe('the merge queue', () => {
  test('shows what is judged and what waits, on a phone too, and follows the landing', async (context) => {
    needTool(context, 'chromium');
    const { client, home } = stage();
    const letPass = await playQueue(client, home, TEAM);
    const watched = await open(`/t/${TEAM}?view=board`);
    const { page } = watched;
    const part = page.getByRole('region', { name: 'Merge queue' });
    await part.getByText('2 works').waitFor();
    await part.getByText(/^judged for /).waitFor();
    await part.getByText(/^waits /).waitFor();
    const board = page.locator('.card', { hasText: 'Add a page of' });
    await eventually(() => board.allInnerTexts()).toEqual([
      expect.stringMatching(/gus[^]*landing now/),
      expect.stringMatching(/hal[^]*waits to land, place 2/),
    ]);
    await page.getByRole('region', { name: 'Members' }).getByText('Waits to land').first().waitFor();
    for (const [theme, rules] of [
      ['light', 'all'],
      ['dark', ['color-contrast']],
    ] as const) {
      await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
      expect(await scan(page, { include: ['.merge-queue', '.card'], rules })).toEqual([]);
    }
    const touch = { ...PHONE, hasTouch: true, isMobile: true };
    const phone = (await openPage(browser(), client, `/t/${TEAM}?view=members`, touch)).page;
    const narrow = phone.getByRole('region', { name: 'Merge queue' });
    await narrow.getByText('2 works').waitFor();
    const { height = 0 } = (await narrow.getByRole('link').first().boundingBox()) ?? {};
    expect(height).toBeGreaterThanOrEqual(44);
    expect(await phone.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await letPass();
    // The newest is above.
    await eventually(async () => (await board.allInnerTexts()).toSorted()).toEqual([
      expect.stringMatching(/gus[^]*landed/),
      expect.stringMatching(/hal[^]*landed/),
    ]);
    await eventually(() => part.count()).toBe(0);
    expectQuiet(watched);
  });
});

describeTaking(TEAM, stage, open);

import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { Replica, teamUsage } from '../../src/client/replica.ts';
import type { Batch } from '../../src/client/replica.ts';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, openPage, useBrowser } from './browser.ts';
import type { Watched } from './browser.ts';
import { writeLongTeam } from './long-team.ts';
import { loadPart } from './part.ts';
import { useStage } from './stage.ts';

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Marked {
  readonly dataset: Readonly<Record<string, string>>;
}

const { momentsOf, findMarks } = await loadPart<{
  momentsOf: (history: readonly Batch[]) => readonly object[];
  findMarks: (moments: readonly object[], span: Span) => readonly { readonly first: { readonly seq: number } }[];
}>('ui/team/time-line/marks.ts');
const { countEvents } = await loadPart<{
  countEvents: (history: readonly Batch[], span: Span) => number[];
}>('ui/team/time-line/span.ts');
const { drawBars } = await loadPart<{ drawBars: (bars: readonly number[]) => string }>('ui/team/time-line/strip.tsx');
const { plural, showCount, tokensOf } = await loadPart<{
  plural: (count: number, noun: string) => string;
  showCount: (count: number) => string;
  tokensOf: (usage: object) => number;
}>('ui/parts/format.ts');

const TASKS = 200;
/** Nearly twice as many batches as a page opens with. */
const EVENTS = 12_000;

const browser = useBrowser();
const stage = useStage(async (home) => {
  for (const team of ['early', 'late', 'cut']) await writeLongTeam(home, team, EVENTS);
});

/** Runs in the page: the history is read when the test says so. */
const HOLD = `const held = [];
let isHeld = true;
globalThis.requestIdleCallback = (work) => void (isHeld ? held.push(work) : setTimeout(work));
globalThis.readHistory = () => {
  isHeld = false;
  for (const work of held.splice(0)) work();
};`;

/** Opens a team whose older history is held back. */
async function openHeld(path: string): Promise<Watched & { readHistory: () => Promise<unknown> }> {
  const watched = await openPage(browser(), stage().client, path, { script: HOLD });
  await watched.page.locator('.list-row').first().waitFor();
  return { ...watched, readHistory: () => watched.page.evaluate('readHistory()') };
}

/** What the daemon has, folded from the first event on. */
async function readWhole(teamId: string): Promise<Replica> {
  const replica = new Replica(teamId);
  const batches = await stage().client.call('event.list', { teamId, limit: 10_000 });
  for (const batch of batches as unknown as Batch[]) replica.apply(batch);
  return replica;
}

const countOf = (page: Page): Promise<string> => page.locator('.team-count').innerText();
const tokensShown = (page: Page): Promise<string> =>
  page.locator('.figures div', { hasText: 'Tokens' }).locator('dd').innerText();
const reading = (page: Page) => page.locator('.track').getByText(/Reading the history: \d+ %/);

describe('a team with a long history', () => {
  test('shows the present before the history is read, and then the same time line as ever', async (context) => {
    needTool(context, 'chromium');
    const { client } = stage();
    const watched = await openHeld('/t/early?view=list');
    const { page, readHistory } = watched;
    const before = await readWhole('early');
    // Counts, figures and members are those of the whole team.
    expect(await countOf(page)).toBe(`0 of ${TASKS}`);
    expect(await tokensShown(page)).toBe(showCount(tokensOf(teamUsage(before.live))));
    expect(await page.locator('aside.side li.member').count()).toBe(before.live.members.size);
    await reading(page).waitFor();
    expect(await page.locator('.track .mark').count()).toBe(0);
    expect(await page.getByRole('slider', { name: 'Moment' }).isDisabled()).toBe(true);
    // A live event comes once, in the list of tasks and in that of events.
    await page.getByRole('button', { name: 'Events', exact: true }).click();
    const events = page.locator('.event-list');
    await events.getByText(/Reading older events: \d+ %/).waitFor({ state: 'attached' });
    await client.call('task.create', { teamId: 'early', title: 'Came meanwhile' });
    await eventually(() => countOf(page)).toBe(`0 of ${TASKS + 1}`);
    await client.call('task.claim', { teamId: 'early', taskId: String(TASKS + 1) }, { as: 'member-1' });
    // It was created, and claimed.
    const lines = events.locator('li', { hasText: `#${TASKS + 1}` });
    await eventually(() => lines.count()).toBe(2);
    await readHistory();
    await reading(page).waitFor({ state: 'detached' });
    await events.getByText(/Reading older events/).waitFor({ state: 'detached' });
    expect(await lines.count()).toBe(2);
    expect(await countOf(page)).toBe(`0 of ${TASKS + 1}`);
    const whole = await readWhole('early');
    expect(await events.locator('.events').getAttribute('aria-label')).toBe(
      plural(momentsOf(whole.batches).length, 'event'),
    );
    const slider = page.getByRole('slider', { name: 'Moment' });
    expect(await slider.getAttribute('max')).toBe(String(whole.seq));
    // The line of a closed team ends with its last event, whatever the clock says.
    await client.call('team.close', { teamId: 'early', force: true });
    await page.locator('.time-line .live', { hasText: 'Closed' }).waitFor();
    const { batches } = await readWhole('early');
    const [start, end] = [batches[0]?.events[0]?.at ?? 0, batches.at(-1)?.events.at(-1)?.at ?? 0];
    const bars = drawBars(countEvents(batches, { start, end }));
    await eventually(() => page.locator('.track .bars path').getAttribute('d')).toBe(bars);
    const marks = findMarks(momentsOf(batches), { start, end }).map(({ first }) => String(first.seq));
    const shown = page.locator('.track .mark');
    expect(await shown.evaluateAll((all) => all.map((one) => (one as unknown as Marked).dataset['seq']))).toEqual(
      marks,
    );
    expectQuiet(watched);
  });

  test('a link to an old moment shows the present until the history is there, then that moment', async (context) => {
    needTool(context, 'chromium');
    const moment = 120;
    const watched = await openHeld(`/t/late?view=list&at=${moment}`);
    const { page, readHistory } = watched;
    const whole = await readWhole('late');
    const going = page.getByText(`Going to event ${moment}`);
    await going.waitFor();
    expect(await tokensShown(page)).toBe(showCount(tokensOf(teamUsage(whole.live))));
    expect(await page.getByRole('button', { name: 'Back to live' }).count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('at')).toBe(String(moment));
    await readHistory();
    await page.getByRole('button', { name: 'Back to live' }).waitFor();
    await going.waitFor({ state: 'detached' });
    expect(await tokensShown(page)).toBe(showCount(tokensOf(teamUsage(whole.at(moment)))));
    expect(new URL(page.url()).searchParams.get('at')).toBe(String(moment));
    await page.keyboard.press('[');
    await eventually(() => page.getByRole('slider', { name: 'Moment' }).inputValue()).toBe(String(moment - 1));
    expect(await tokensShown(page)).toBe(showCount(tokensOf(teamUsage(whole.at(moment - 1)))));
    // Whoever changes their mind stays in the present.
    await page.keyboard.press('l');
    await eventually(() => tokensShown(page)).toBe(showCount(tokensOf(teamUsage(whole.live))));
    expectQuiet(watched);
  });

  test('what needs the history says that it is being read, and a moment can be waited for or not', async (context) => {
    needTool(context, 'chromium');
    const watched = await openHeld('/t/cut/task/8?view=list&part=log');
    const { page, readHistory } = watched;
    const sheet = page.locator('.sheet');
    await sheet.getByText(/Reading the history: \d+ %/).waitFor();
    expect(await sheet.getByText('No attempt yet').count()).toBe(0);
    await sheet.getByRole('tab', { name: 'Task' }).click();
    await sheet.getByText(/Reading older events: \d+ %/).waitFor();
    const known = await sheet.locator('.events li').count();
    await page.getByRole('button', { name: 'To the beginning' }).click();
    await page.getByText('Going to event 1').waitFor();
    await page.getByRole('button', { name: 'Stay here' }).click();
    await page.getByText('Going to event 1').waitFor({ state: 'detached' });
    await readHistory();
    await eventually(() => sheet.locator('.events li').count()).toBeGreaterThan(known);
    await sheet.getByRole('tab', { name: 'Log' }).click();
    await sheet.getByText('No attempt yet').waitFor();
    expect(await page.getByRole('button', { name: 'Back to live' }).count()).toBe(0);
    expectQuiet(watched);
  });
});

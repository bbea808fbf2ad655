import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { isProof } from '../proof.ts';
import { needTool } from '../tools.ts';
import { expectQuiet, follow, openPage, useBrowser, usePage } from './browser.ts';
import { writeNativeTeam } from './native-team.ts';
import { scan } from './scan.ts';
import { nativeRoot, useStage } from './stage.ts';
import { writeStories } from './story.ts';

const TEAM = 'journal-v2';

const browser = useBrowser();
const stage = useStage(async (home) => {
  await writeStories(home, [TEAM]);
  writeNativeTeam(nativeRoot(home));
});
const open = usePage(browser, stage);

/** Sizes and themes of a page. `dark` checks contrast only, because its layout is that of `wide`. */
const LOOKS = {
  wide: { theme: 'light', width: 1440, height: 900, rules: undefined },
  dark: { theme: 'dark', width: 1440, height: 900, rules: ['color-contrast'] },
  middle: { theme: 'dark', width: 900, height: 800, rules: undefined },
  narrow: { theme: 'light', width: 390, height: 844, rules: undefined },
} as const;

type LookName = keyof typeof LOOKS;

const ALL: readonly LookName[] = ['wide', 'dark', 'middle', 'narrow'];
/** The looks of a scene to test: all in `npm run proof`, else the first and one other, which changes with the scene. */
function sample(looks: readonly LookName[], at: number): readonly LookName[] {
  const [first, ...others] = looks;
  return isProof || others.length < 2 ? looks : [first!, others[at % others.length]!];
}
const SHADES: readonly LookName[] = ['wide', 'dark'];

interface Scene {
  readonly name: string;
  readonly path: string;
  /** What must be visible before the scan. */
  readonly ready: string;
  readonly looks: readonly LookName[];
  readonly key?: string;
  /** The part to scan, if another scene covers the rest: a scan of a long list takes seconds. */
  readonly within?: string;
}

const LIST = { path: `/t/${TEAM}?view=list`, ready: '.list-row:nth-child(3)' };
const DIALOG = '[role=dialog]';

/** Scenes that share one page, in order: to load a page and the scanner takes longer than a scan. */
const ROUNDS: Readonly<Record<string, readonly Scene[]>> = {
  'of all teams': [
    { name: 'teams', path: '/', ready: '.teams', looks: ALL },
    { name: 'queue', path: '/queue', ready: '.queue-detail', looks: ALL },
    { name: 'native', path: '/native/session-bugs', ready: '.native-mail li', looks: SHADES },
  ],
  'of a team': [
    { name: 'list', ...LIST, looks: ALL },
    { name: 'palette', ...LIST, looks: ['wide'], key: 'Control+k', within: DIALOG },
    { name: 'new task', ...LIST, looks: ['wide'], key: 'n', within: DIALOG },
    { name: 'help', ...LIST, looks: ['wide', 'middle', 'narrow'], key: '?', within: DIALOG },
    { name: 'graph', path: `/t/${TEAM}?view=graph`, ready: '.graph[data-nodes="24"]', looks: ALL, within: '.stage' },
    { name: 'board', path: `/t/${TEAM}?view=board`, ready: '.column', looks: ALL, within: '.stage' },
    { name: 'task', path: `/t/${TEAM}/task/13?view=list`, ready: '.sheet-title', looks: ALL, within: '.sheet' },
  ],
  'of its members and its past': [
    { name: 'transcript', path: `/t/${TEAM}/m/ada`, ready: '.step.said', looks: ALL },
    { name: 'usage', path: `/t/${TEAM}/m/ada?tab=usage`, ready: '.plot canvas', looks: SHADES },
    { name: 'lead and inbox', path: `/t/${TEAM}/m/lead?tab=inbox`, ready: '.message', looks: ['wide'] },
    { name: 'numbers', path: `/t/${TEAM}/numbers`, ready: '.plot canvas', looks: SHADES },
    // After a scene of another page: only then does `at` in the address take effect.
    { name: 'past', path: `/t/${TEAM}?view=board&at=60`, ready: '.live-back', looks: SHADES, within: '.time-line' },
  ],
};

describe('everybody can use it', () => {
  test.for(Object.entries(ROUNDS))(
    'an accessibility scan of the pages %s finds nothing, in both themes and every width',
    async ([, scenes], context) => {
      needTool(context, 'chromium');
      const watched = await open();
      const { page } = watched;
      await page.locator('.teams').first().waitFor();
      for (const [at, scene] of scenes.entries()) await lookAt(page, { ...scene, looks: sample(scene.looks, at) });
      expectQuiet(watched);
    },
  );

  test('the theme is the one that the system prefers, until another is chosen', async (context) => {
    needTool(context, 'chromium');
    const { page } = await openPage(browser(), stage().client, '/', { colorScheme: 'dark' });
    await page.getByRole('button', { name: 'Use the light theme' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Use the dark theme' }).waitFor();
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('light');
  });
});

async function lookAt(page: Page, { name, path, ready, looks, key, within }: Scene): Promise<void> {
  await page.setViewportSize(LOOKS.wide);
  await follow(page, path);
  await page.locator(ready).first().waitFor();
  if (key !== undefined) {
    await page.keyboard.press(key);
    await page.locator(DIALOG).first().waitFor();
  }
  for (const look of looks) {
    await take(page, look);
    await page.locator(ready).first().waitFor();
    const { rules } = LOOKS[look];
    const found = await scan(page, { ...(rules && { rules }), ...(within !== undefined && { include: [within] }) });
    expect({ name, look, found }).toEqual({ name, look, found: [] });
    const overlap: unknown = await page.evaluate(OVERLAP);
    expect({ name, look, overlap }).toEqual({ name, look, overlap: [] });
  }
  if (key === undefined) return;
  await page.keyboard.press('Escape');
  await page.locator(DIALOG).first().waitFor({ state: 'detached' });
}

/** Changes the size of the open page, and its theme as the theme button does. */
async function take(page: Page, look: LookName): Promise<void> {
  const { theme, width, height } = LOOKS[look];
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme });
  await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
  await page.evaluate(SETTLED);
}

/** Waits until a new size is drawn and animations have ended: a fading element has too little contrast. */
const SETTLED = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() =>
  Promise.all(document.getAnimations()
    .filter((one) => one.effect.getTiming().iterations !== Infinity)
    .map((one) => one.finished.catch(() => {})))).then(() => undefined)`;

/** A scan does not notice a broken grid: this finds parts that overlap instead of standing side by side. */
const OVERLAP = `(() => {
  const parts = [...document.querySelectorAll('.rail, .team-head, .stage, .side, .time-line, .member-head, .member-main, .member-side')]
    .map((one) => [one.className, one.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && box.height > 0);
  return parts.flatMap(([a, x], i) => parts.slice(i + 1)
    .filter(([, y]) => Math.min(x.right, y.right) - Math.max(x.left, y.left) > 1 && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 1)
    .map(([b]) => a + ' over ' + b));
})()`;

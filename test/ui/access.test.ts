import { AxeBuilder } from '@axe-core/playwright';
import { describe, expect, test } from 'vitest';
import { needTool } from '../tools.ts';
import { expectQuiet, openPage, useBrowser } from './browser.ts';
import { writeNativeTeam } from './native-team.ts';
import { nativeRoot, setStage, useDashboard } from './stage.ts';
import { writeStory } from './story.ts';

useDashboard();
const browser = useBrowser();

const TEAM = 'journal-v2';

interface Look {
  readonly keys?: readonly string[];
  /** Where another page has the rest of it: a scan of a long list takes seconds. */
  readonly within?: string;
}

const DIALOG = '[role=dialog]';

/** Each page, what must be there before it is looked at, what is done first, and the part that is new in it. */
const PAGES: readonly (readonly [name: string, path: string, ready: string, look?: Look])[] = [
  ['teams', '/', '.teams'],
  ['graph', `/t/${TEAM}?view=graph`, '.graph[data-nodes="24"]'],
  ['board', `/t/${TEAM}?view=board`, '.column'],
  ['list', `/t/${TEAM}?view=list`, '.list-row:nth-child(3)'],
  ['past', `/t/${TEAM}?view=board&at=60`, '.live-back', { within: '.time-line' }],
  ['task', `/t/${TEAM}/task/13?view=list`, '.sheet-title', { within: '.sheet' }],
  ['transcript', `/t/${TEAM}/m/ada`, '.step.said'],
  ['lead and inbox', `/t/${TEAM}/m/lead?tab=inbox`, '.message'],
  ['usage', `/t/${TEAM}/m/ada?tab=usage`, '.plot canvas'],
  ['queue', '/queue', '.queue-detail'],
  ['numbers', `/t/${TEAM}/numbers`, '.plot canvas'],
  ['native', '/native/session-bugs', '.native-mail li'],
  ['palette', `/t/${TEAM}?view=list`, '.list-row:nth-child(3)', { keys: ['Control+k'], within: DIALOG }],
  ['new task', `/t/${TEAM}?view=list`, '.list-row:nth-child(3)', { keys: ['n'], within: DIALOG }],
  ['help', `/t/${TEAM}?view=list`, '.list-row:nth-child(3)', { keys: ['?'], within: DIALOG }],
];

const SHADED = PAGES.filter(([name]) =>
  ['teams', 'native', 'graph', 'board', 'list', 'past', 'task', 'transcript', 'usage', 'queue', 'numbers'].includes(
    name,
  ),
);
const NARROW = PAGES.filter(([name]) =>
  ['teams', 'graph', 'board', 'list', 'task', 'transcript', 'queue', 'help'].includes(name),
);
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];

describe('everybody can use it', () => {
  // All of it once; what is dark or narrow differs in contrast, or in what stands where.
  test.for([
    { part: 'views', colorScheme: 'light', width: 1440, height: 900, pages: PAGES.slice(0, 6), rules: [] },
    { part: 'pages', colorScheme: 'light', width: 1440, height: 900, pages: PAGES.slice(6, 12), rules: [] },
    { part: 'dialogs', colorScheme: 'light', width: 1440, height: 900, pages: PAGES.slice(12), rules: [] },
    { part: 'colours', colorScheme: 'dark', width: 1440, height: 900, pages: SHADED, rules: ['color-contrast'] },
    { part: 'middle', colorScheme: 'dark', width: 900, height: 800, pages: NARROW, rules: [] },
    { part: 'narrow', colorScheme: 'light', width: 390, height: 844, pages: NARROW, rules: [] },
  ] as const)('$part, $colorScheme at $width: an accessibility scan finds nothing', async (look, context) => {
    const { colorScheme, width, height, pages, rules } = look;
    needTool(context, 'chromium');
    const { client } = await setStage(async (home) => {
      await writeStory(home);
      writeNativeTeam(nativeRoot(home));
    });
    const watched = await openPage(browser(), client, '/', { colorScheme, viewport: { width, height } });
    const { page } = watched;
    const origin = new URL(page.url()).origin;
    for (const [name, path, ready, { keys = [], within } = {}] of pages) {
      await page.goto(origin + path);
      await page.locator(ready).first().waitFor();
      for (const key of keys) await page.keyboard.press(key);
      if (keys.length > 0) await page.locator(DIALOG).first().waitFor();
      // What still fades in has the contrast of something that is not there yet.
      await page.evaluate(
        'Promise.all(document.getAnimations().filter((one) => one.effect.getTiming().iterations !== Infinity).map((one) => one.finished.catch(() => {})))',
      );
      // Without frames there is nothing to put together in a second page, which takes half a second each time.
      expect(page.frames()).toHaveLength(1);
      const scan = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
      if (within !== undefined) scan.include(within);
      const { violations } = await (rules.length > 0 ? scan.withRules([...rules]) : scan.withTags(TAGS)).analyze();
      const found = violations.map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .map(({ html }) => html.slice(0, 160))
            .slice(0, 3)
            .join(' ')}`,
      );
      expect({ name, found }).toEqual({ name, found: [] });
      const overlap: unknown = await page.evaluate(OVERLAP);
      expect({ name, overlap }).toEqual({ name, overlap: [] });
    }
    expectQuiet(watched);
  });
});

/** A grid that is wholly broken has no finding in a scan: parts that must stand beside each other must not overlap. */
const OVERLAP = `(() => {
  const parts = [...document.querySelectorAll('.rail, .team-head, .stage, .side, .time-line, .member-head, .member-main, .member-side')]
    .map((one) => [one.className, one.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && box.height > 0);
  return parts.flatMap(([a, x], i) => parts.slice(i + 1)
    .filter(([, y]) => Math.min(x.right, y.right) - Math.max(x.left, y.left) > 1 && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 1)
    .map(([b]) => a + ' over ' + b));
})()`;

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { buildUi } from '../scripts/build-ui.ts';
import { homeAt } from '../src/client/home.ts';
import { writeBigTeam } from '../test/ui/big-team.ts';
import { launchBrowser } from '../test/ui/launch.ts';
import { writeLongTeam } from '../test/ui/long-team.ts';
import type { Benchmark } from './benchmark.ts';
import { startDaemon } from './daemon.ts';
import type { BenchDaemon } from './daemon.ts';
import { openWorkspace } from './disk.ts';
import { dragAbout, noteFrames, turnWheel } from './frames.ts';
import type { Frames } from './frames.ts';
import { median, quantile } from './rounds.ts';

const BIG_TEAM = 'big';
const SMALL_TEAM = 'small';
const LONG_TEAM = 'long';
/** The events of a team that has run for weeks. */
const LONG_HISTORY = 120_000;

/** What a page must show before a view counts as open. */
const VIEWS = {
  list: ['list', '.list-body .list-row'],
  board: ['board', '.board .card'],
  graph: ['graph', '.graph .node'],
} as const;

/** Measures in Chromium: from an address to a usable page, from a change to the page that shows it, and scrolling. */
export const dashboard: Benchmark = {
  name: 'dashboard',
  unit: 'ms',
  about: 'a team of 1,000 tasks, 50 members and 10,000 messages opens in a browser, is scrolled, and follows',
  target:
    'every view opens within 2 s, also of a team of 120,000 events, compared with a new one; an update, with its commit, within 100 ms (p50); 95 % of frames within 50 ms',
  async run(scale) {
    await buildUi({ ifStale: true });
    using workspace = openWorkspace();
    const home = homeAt(join(workspace.folder, 'home'));
    mkdirSync(home.directory, { recursive: true, mode: 0o700 });
    await writeBigTeam(home, BIG_TEAM, scale.size(100) / 100);
    await writeLongTeam(home, LONG_TEAM, scale.size(LONG_HISTORY));
    // The page of all teams looks for Claude Code's own teams. It must not find those of this machine.
    process.env['CLAUDE_CONFIG_DIR'] = join(workspace.folder, 'claude');
    await using daemon = await startDaemon(workspace.folder);
    await daemon.client.call('team.create', { name: SMALL_TEAM });
    await daemon.client.call('task.create', { teamId: SMALL_TEAM, title: 'One' });
    const browser = await launchBrowser();
    try {
      const page = await logIn(browser, daemon);
      const opened: Record<string, number[]> = { small: [], list: [], board: [], graph: [], inbox: [], long: [] };
      const big = `${daemon.url}/t/${BIG_TEAM}`;
      for (let round = 0; round <= scale.rounds; round++) {
        const times: Record<string, number> = {
          small: await timeOpening(page, `${daemon.url}/t/${SMALL_TEAM}?view=list`, VIEWS.list[1]),
        };
        for (const [view, ready] of Object.values(VIEWS)) {
          times[view] = await timeOpening(page, `${big}?view=${view}`, ready);
        }
        times['long'] = await timeOpening(page, `${daemon.url}/t/${LONG_TEAM}?view=list`, VIEWS.list[1]);
        times['inbox'] = await timeOpening(page, `${big}/m/lead?tab=inbox`, '.message');
        if (round === 0) continue;
        for (const [name, ms] of Object.entries(times)) opened[name]?.push(ms);
      }
      const scrolled = await scrollAll(page, big);
      const updates = await timeUpdates(page, daemon, scale.size(100));
      const [small, list] = [opened['small'] ?? [], opened['list'] ?? []];
      return {
        value: median(list),
        limit: 'the same page for a team of one task',
        limitValue: median(small),
        ratio: median(list.map((ms, i) => ms / (small[i] ?? ms))),
        peers: [],
        targets: [
          ...(['list', 'board', 'graph', 'inbox'] as const).map((name) => ({
            what: `the ${name} opens, ms`,
            value: median(opened[name] ?? []),
            atMost: 2_000,
          })),
          {
            what: `a team of ${scale.size(LONG_HISTORY)} events opens later than a new one, ms`,
            value: median((opened['long'] ?? []).map((ms, i) => ms - (small[i] ?? 0))),
            atMost: 2_000,
          },
          { what: 'an update reaches the page, p50 ms', value: median(updates), atMost: 100 },
          ...Object.entries(scrolled).map(([name, { p95 }]) => ({
            what: `a frame of the ${name} while it moves, p95 ms`,
            value: p95,
            atMost: 50,
          })),
        ],
        more: {
          updateP50: median(updates),
          updateP95: quantile(updates, 0.95),
          ...Object.fromEntries(
            Object.entries(scrolled).flatMap(([name, { longest, perSecond }]) => [
              [`${name}LongestFrame`, longest],
              [`${name}FramesPerSecond`, perSecond],
            ]),
          ),
        },
      };
    } finally {
      await browser.close();
    }
  },
};

/** Scrolls through every long view. */
async function scrollAll(page: Page, big: string): Promise<Record<string, Frames>> {
  const scroll = async (url: string, ready: string, area: string): Promise<Frames> => {
    await timeOpening(page, url, ready);
    return noteFrames(
      page,
      () => turnWheel(page, area),
      () => page.locator(ready).count(),
    );
  };
  const list = await scroll(`${big}?view=list`, VIEWS.list[1], '.list-body');
  const board = await scroll(`${big}?view=board`, VIEWS.board[1], '.board');
  const inbox = await scroll(`${big}/m/lead?tab=inbox`, '.message', '.inbox');
  await timeOpening(page, `${big}?view=graph`, VIEWS.graph[1]);
  const count = (): Promise<number> => page.locator('.graph .node').count();
  const graph = await noteFrames(page, () => dragAbout(page, '.graph'), count);
  await page.getByRole('button', { name: 'The whole graph' }).click();
  await page.locator('.node.far').first().waitFor();
  const overview = await noteFrames(page, () => dragAbout(page, '.graph'), count);
  await timeOpening(page, `${big}?view=list`, VIEWS.list[1]);
  const rows = (): Promise<number> => page.locator(VIEWS.list[1]).count();
  const past = await noteFrames(page, () => dragAbout(page, '.track'), rows);
  return { list, board, inbox, graph, overview, past };
}

async function logIn(browser: Browser, { client }: BenchDaemon): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(60_000);
  await page.goto((await client.call('ui.login', {})).url);
  await page.locator('.teams').first().waitFor();
  return page;
}

async function timeOpening(page: Page, url: string, ready: string): Promise<number> {
  const start = performance.now();
  await page.goto(url);
  await page.locator(ready).first().waitFor();
  return performance.now() - start;
}

/** The time from the call that changes a title to the frame in which the list shows it. */
async function timeUpdates(page: Page, { client, url }: BenchDaemon, count: number): Promise<number[]> {
  await timeOpening(page, `${url}/t/${BIG_TEAM}?view=list`, '.list-body .list-row');
  const taskId = (await page.locator('.list-body .list-row span').first().innerText()).replace('#', '');
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const title = `Update ${i} of ${count}`;
    const shown = page.evaluate(WAIT_FOR.replace('TITLE', JSON.stringify(title))) as Promise<number>;
    const start = Date.now();
    await client.call('task.update', { teamId: BIG_TEAM, taskId, title });
    times.push((await shown) - start);
  }
  return times;
}

/** Runs in the page: resolves with the time of the first frame that shows the text. */
const WAIT_FOR = `new Promise((resolve) => {
  const isThere = () => document.querySelector('.list-body').innerText.includes(TITLE);
  const observer = new MutationObserver(() => {
    if (!isThere()) return;
    observer.disconnect();
    requestAnimationFrame(() => resolve(Date.now()));
  });
  observer.observe(document.querySelector('.list-body'), { subtree: true, childList: true, characterData: true });
})`;

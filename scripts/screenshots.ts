// Writes docs/images/*.png: every page of the dashboard, light and dark, with a team in the middle of its work.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { Client } from '../src/client/client.ts';
import { homeAt } from '../src/client/home.ts';
import { socketConnect } from '../src/client/socket.ts';
import { startDaemon } from '../src/daemon.ts';
import { launchBrowser } from '../test/ui/launch.ts';
import { writeNativeTeam } from '../test/ui/native-team.ts';
import { writeSmallTeams } from '../test/ui/small-teams.ts';
import { makeTeams } from '../test/ui/state-teams.ts';
import { writeStory } from '../test/ui/story.ts';
import { playWork, writeWorkTeam } from '../test/ui/work-team.ts';
import { buildUi } from './build-ui.ts';

const IMAGES = join(dirname(import.meta.dirname), 'docs/images');
const TEAM = 'journal-v2';
const WIDE = { width: 1440, height: 900 };
const MIDDLE = { width: 1024, height: 768 };
const NARROW = { width: 390, height: 844 };

interface Shot {
  readonly name: string;
  readonly path: string;
  readonly ready: string;
  readonly size?: { readonly width: number; readonly height: number };
  /** The element that has the focus when the keys are pressed. */
  readonly focus?: string;
  readonly keys?: readonly string[];
  /** What a person does first. */
  readonly act?: (page: Page) => Promise<void>;
}

const WORK = 'words';

/** States that were added to the pages above, each also on a phone. */
const STATES: readonly Shot[] = [
  { name: 'start', path: '/', ready: '.teams', act: fillStart },
  { name: 'work', path: `/t/${WORK}/task/1?view=list`, ready: '.work-files button' },
  { name: 'diff', path: `/t/${WORK}/task/1?view=list&part=diff&file=src/parser.ts`, ready: '.sheet-diff .hl-keyword' },
  { name: 'merge', path: `/t/${WORK}/diff`, ready: '.diff-line, .diff-pair', act: openMerge },
  { name: 'attempts', path: `/t/${TEAM}/task/10?view=list`, ready: '.attempts button' },
  { name: 'answered', path: '/queue', ready: '.queue-detail', act: answer },
  { name: 'stuck', path: '/t/stuck?view=list', ready: '.situation-help' },
  { name: 'limited', path: '/t/limited?view=members', ready: '.situation-help' },
  { name: 'spawn', path: '/t/empty?view=list', ready: '.situation-help', act: openSpawn },
  { name: 'events', path: `/t/${TEAM}?view=list`, ready: '.list-body .list-row', act: chooseAndList },
  { name: 'search', path: '/search?q=journal', ready: '.found' },
  { name: 'settings', path: '/settings', ready: '.settings-page dl, .settings-page section' },
  { name: 'notes', path: `/t/${TEAM}/notes`, ready: '.notes-page' },
];

const SHOTS: readonly Shot[] = [
  { name: 'teams', path: '/', ready: '.teams' },
  { name: 'team', path: `/t/${TEAM}`, ready: '.graph[data-nodes="24"] .node' },
  { name: 'board', path: `/t/${TEAM}?view=board`, ready: '.card' },
  { name: 'list', path: `/t/${TEAM}?view=list`, ready: '.list-body .list-row' },
  { name: 'past', path: `/t/${TEAM}?at=88`, ready: '.is-past .graph[data-nodes] .node' },
  { name: 'task', path: `/t/${TEAM}/task/13`, ready: 'main:has(.sheet-title) .graph[data-nodes="24"] .node' },
  { name: 'member', path: `/t/${TEAM}/m/ada`, ready: '.step.said' },
  { name: 'lead', path: `/t/${TEAM}/m/lead?tab=inbox`, ready: '.message' },
  { name: 'usage', path: `/t/${TEAM}/m/ada?tab=usage`, ready: '.plot canvas' },
  { name: 'queue', path: '/queue?id=plan', ready: '.queue-detail', keys: ['j'] },
  { name: 'numbers', path: `/t/${TEAM}/numbers`, ready: '.plot canvas' },
  { name: 'commands', path: `/t/${TEAM}`, ready: '.graph[data-nodes="24"] .node', keys: ['Control+k'] },
  { name: 'native', path: '/native/session-bugs', ready: '.native-mail li' },
  { name: 'help', path: `/t/${TEAM}?view=list`, ready: '.list-body .list-row', keys: ['?'] },
  { name: 'move', path: `/t/${TEAM}?view=board`, ready: '.card', keys: ['m'], focus: '[data-task="17"] a' },
  { name: 'empty', path: '/t/docs-site', ready: '.empty' },
  { name: 'team-1024', path: `/t/${TEAM}`, ready: '.graph[data-nodes="24"] .node', size: MIDDLE },
  { name: 'team-390', path: `/t/${TEAM}`, ready: '.list-body .list-row', size: NARROW },
  { name: 'graph-390', path: `/t/${TEAM}?view=graph`, ready: '.graph[data-nodes="24"] .node', size: NARROW },
  { name: 'board-390', path: `/t/${TEAM}?view=board`, ready: '.card', size: NARROW },
  { name: 'teams-390', path: '/', ready: '.teams', size: NARROW },
  { name: 'queue-390', path: '/queue', ready: '.queue-detail', size: NARROW },
  { name: 'numbers-390', path: `/t/${TEAM}/numbers`, ready: '.plot canvas', size: NARROW },
  { name: 'member-390', path: `/t/${TEAM}/m/ada`, ready: '.step.said', size: NARROW },
  { name: 'past-390', path: `/t/${TEAM}?at=88`, ready: '.is-past .list-row', size: NARROW },
  { name: 'task-390', path: `/t/${TEAM}/task/13`, ready: '.sheet-title', size: NARROW },
  { name: 'usage-390', path: `/t/${TEAM}/m/ada?tab=usage`, ready: '.plot canvas', size: NARROW },
  { name: 'lead-390', path: `/t/${TEAM}/m/lead?tab=inbox`, ready: '.message', size: NARROW },
  { name: 'native-390', path: '/native/session-bugs', ready: '.native-mail li', size: NARROW },
  { name: 'empty-390', path: '/t/docs-site', ready: '.empty', size: NARROW },
  ...STATES,
  ...STATES.map((shot) => ({ ...shot, name: `${shot.name}-390`, size: NARROW })),
];

const only = process.argv.slice(2);
await buildUi({ ifStale: true });
mkdirSync(IMAGES, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'troupe-shots-'));
const home = homeAt(join(folder, 'home'));
mkdirSync(home.directory, { mode: 0o700 });
await writeSmallTeams(home);
await writeStory(home);
await writeWorkTeam(home, WORK);
const native = join(folder, 'claude');
writeNativeTeam(native);
const daemon = await startDaemon({ home, environment: { CLAUDE_CONFIG_DIR: native } });
const client = new Client(socketConnect({ path: home.socket, token: { file: home.tokenFile } }));
await playWork(client, WORK);
await makeTeams(client);
const browser = await launchBrowser();
try {
  for (const colorScheme of ['light', 'dark'] as const) await shoot(browser, colorScheme);
} finally {
  await browser.close();
  client.close();
  await daemon.close();
  rmSync(folder, { recursive: true, force: true });
}

async function shoot(browser: Browser, colorScheme: 'light' | 'dark'): Promise<void> {
  const context = await browser.newContext({ viewport: WIDE, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto((await client.call('ui.login', {})).url);
  await page.locator('.teams').first().waitFor();
  for (const { name, path, ready, size = WIDE, focus, keys = [], act } of SHOTS) {
    if (only.length > 0 && !only.includes(name)) continue;
    await page.setViewportSize(size);
    await page.goto(daemon.url + path);
    await page.locator(ready).first().waitFor();
    await page.evaluate('document.fonts.ready');
    if (focus !== undefined) await page.locator(focus).focus();
    for (const key of keys) await page.keyboard.press(key);
    await act?.(page);
    // The graph scrolls to the tasks in progress after its layout was measured, and buttons that answer take a moment.
    await page.waitForTimeout(1_000);
    await page.screenshot({ path: join(IMAGES, `${name}-${colorScheme}.png`) });
    console.log(`docs/images/${name}-${colorScheme}.png`);
  }
  await context.close();
}

async function fillStart(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Start work' }).click();
  const form = page.getByRole('dialog', { name: 'Start work' });
  await form.getByRole('textbox', { name: /^Folder/ }).fill(join(home.directory, `project-of-${WORK}`));
  await form.getByRole('textbox', { name: /^Goal/ }).fill('Read words of any language, and number the lines');
  const program = { label: 'a program…' };
  await form.getByRole('group', { name: 'Lead' }).locator('select').first().selectOption(program);
  await form.getByRole('textbox', { name: 'Command' }).fill('sleep 60');
  await form.getByRole('button', { name: 'Add a teammate' }).click();
  await form.getByRole('group', { name: 'Teammate 1' }).locator('select').first().selectOption('codex');
  await form.getByRole('textbox', { name: /^Budget/ }).fill('5');
  await form.locator('.start-check').waitFor();
}

async function openMerge(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Merge…' }).click();
  await page.getByText('which is checked out in').waitFor();
}

async function answer(page: Page): Promise<void> {
  const asked = { teamId: 'asks', kind: 'permission', memberId: 'ann', content: 'npm publish' } as const;
  const pending = { teamId: 'asks', status: 'pending' } as const;
  // The one of the picture before may have been sent.
  if ((await client.call('request.list', pending)).length === 0) {
    await client.call('request.raise', asked, { as: 'ann' });
  }
  const [request] = await client.call('request.list', pending);
  await page.goto(`${daemon.url}/queue?id=${encodeURIComponent(`asks/${request?.id}`)}`);
  await page.locator('.queue-detail').getByRole('button', { name: 'Allow' }).click();
  await page.locator('.queue-detail').getByRole('button', { name: 'Undo' }).waitFor();
}

async function openSpawn(page: Page): Promise<void> {
  await page.locator('.situation-help').first().click();
  await page.getByRole('dialog', { name: 'Spawn a teammate' }).waitFor();
}

async function chooseAndList(page: Page): Promise<void> {
  const boxes = page.getByRole('checkbox', { name: /^Choose #/ });
  for (const at of [1, 2]) await boxes.nth(at).check();
  await page.getByRole('button', { name: 'Events', exact: true }).click();
  await page.locator('.event-list li').first().waitFor();
}

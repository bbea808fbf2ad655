import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { isInstalled } from '../tools.ts';
import { HANG_MS } from '../until.ts';
import { launchLightBrowser } from './launch.ts';
import type { Stage } from './stage.ts';

/** Waits until a value is as expected. */
export function eventually<T>(look: () => T | Promise<T>) {
  return expect.poll(look, { interval: 50 });
}

/** Whether a text shows the age of something in whole minutes, which may change while the text is read. */
export async function showsAge(text: Locator, before: string, at: number): Promise<boolean> {
  const minutes = (): number => Math.floor((Date.now() - at) / 60_000);
  const first = minutes();
  const shown = await text.innerText();
  // A page shows whole seconds, and rounds.
  const last = Math.floor((Date.now() + 1_000 - at) / 60_000);
  return [first, minutes(), last].some((count) => shown === `${before} ${count}m`);
}

/** A page, and what its browser complained about. No test loosens the daemon's content security policy. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Violations of the policy, errors of the page, errors in the console. */
  readonly complaints: string[];
}

/** A desktop window without animations, because tests would have to wait for them. */
export const DESK = { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' } as const;

let browser: Browser | undefined;

/** One browser for all files that this process runs; it ends with the process. Each test or file has its own window. */
export function useBrowser(): () => Browser {
  beforeAll(async () => {
    if (browser?.isConnected() !== true && isInstalled('chromium')) browser = await launchLightBrowser();
  });
  return () => browser as Browser;
}

/** Options of a window, and a script that runs in its page before the dashboard does. */
export interface WindowOptions extends BrowserContextOptions {
  readonly script?: string;
  /** Whether the test moves the clock of the page. */
  readonly hasClock?: boolean;
}

/** Opens a page of the dashboard in a window of its own, as `troupe ui` does, logged in by a code. */
export async function openPage(
  browser: Browser,
  client: Client,
  path = '/',
  { script, hasClock = false, ...options }: WindowOptions = {},
): Promise<Watched> {
  const { watched, traffic } = await openWindow(browser, options);
  if (script !== undefined) await watched.page.addInitScript(script);
  if (hasClock) await watched.page.clock.install();
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await report(watched, traffic);
    await watched.context.close();
  });
  await enter(watched.page, client, path);
  return watched;
}

/** The size and motion of the page that all tests of a file share. */
export interface Look {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly reducedMotion?: 'reduce' | 'no-preference';
}

/**
 * One page for all tests of a file, loaded and logged in once. To load a page takes four times as much processor time
 * as to follow a link in it. The page is cleared after each test, and replaced after a test that failed.
 */
export function usePage(browser: () => Browser, stage: () => Stage) {
  let opened: Awaited<ReturnType<typeof openWindow>> | undefined;
  return async (path = '/', { viewport = DESK.viewport, reducedMotion = 'reduce' }: Look = {}): Promise<Watched> => {
    const isNew = opened === undefined;
    const { watched, traffic } = (opened ??= await openWindow(browser(), {}));
    const { page, context, complaints } = watched;
    onTestFinished(async ({ task }) => {
      const isWhole = task.result?.state !== 'fail' && (await leave(page));
      if (task.result?.state === 'fail') await report(watched, traffic);
      if (!isWhole) {
        opened = undefined;
        await context.close();
      }
      complaints.length = traffic.length = 0;
    });
    await page.setViewportSize(viewport);
    await page.emulateMedia({ reducedMotion, colorScheme: 'light' });
    if (isNew) await enter(page, stage().client, path);
    else await follow(page, path);
    return watched;
  };
}

/** Opens a window with an empty page, and records its complaints and its traffic. */
async function openWindow(browser: Browser, options: BrowserContextOptions) {
  const context = await browser.newContext({ ...DESK, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(HANG_MS);
  const complaints: string[] = [];
  const traffic = noteTraffic(page);
  page.on('pageerror', (error) => complaints.push(`error: ${error.stack || error.message}`));
  page.on('console', (message) => {
    // The page tells the person that the daemon is away. The browser's own error about it is no complaint.
    const isAbsence =
      /ERR_(CONNECTION|SOCKET|EMPTY|PROXY|TUNNEL|INTERNET|NETWORK)|WebSocket connection to .* failed/.test(
        message.text(),
      );
    if (message.type() !== 'error' || isAbsence) return;
    // The text of a failed load does not name the address. The login code after the # is left out.
    complaints.push(`console: ${message.text()} ${message.location().url.split('#', 1)[0]}`);
  });
  for (const name of ['listen.js', 'patience.js']) {
    await page.addInitScript({ path: join(import.meta.dirname, 'pages', name) });
  }
  return { watched: { page, context, complaints }, traffic };
}

async function enter(page: Page, client: Client, path: string): Promise<void> {
  const { url } = await client.call('ui.login', {});
  await page.goto(url.replace('/#', `${path}#`));
}

/** Goes to another address of the dashboard without a page load, as its links do. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}), dispatchEvent(new PopStateEvent('popstate'))`,
  );
}

/** Presses keys that the page takes for one command only if they come within 1.2 s: without waiting for each other. */
export async function pressInRow(page: Page, ...keys: readonly string[]): Promise<void> {
  await Promise.all(keys.flatMap((key) => [page.keyboard.down(key), page.keyboard.up(key)]));
}

/** Clears a page, so that a later test finds nothing in it; false if that fails. */
async function leave(page: Page): Promise<boolean> {
  try {
    await page.evaluate('sessionStorage.clear(), localStorage.clear()');
    await follow(page, '/nothing/here');
    await page.getByText('There is nothing at this address').waitFor();
    return true;
  } catch {
    return false;
  }
}

/** Records the connections of a page to its daemon and its failed requests, to print them if the test fails. */
function noteTraffic(page: Page): string[] {
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(`${(performance.now() / 1000).toFixed(2)} ${text}`);
  page.on('websocket', (socket) => {
    note('WebSocket asked for');
    socket.once('framereceived', () => note('WebSocket answers'));
    socket.on('socketerror', (error) => note(`WebSocket: ${error}`));
    socket.on('close', () => note('WebSocket closed'));
  });
  page.on('requestfailed', (request) => note(`${request.url()}: ${request.failure()?.errorText}`));
  page.on('response', (response) => {
    if (!response.ok()) note(`${response.url()}: ${response.status()}`);
  });
  return notes;
}

/** Prints what a test that failed saw last. */
async function report({ page, complaints }: Watched, traffic: readonly string[]): Promise<void> {
  const text = await page.innerText('body', { timeout: 10_000 }).catch((error: unknown) => String(error));
  console.error(`${page.url()} showed:\n${text}`, complaints, traffic);
}

/** Expects that no browser complained. */
export function expectQuiet(...watched: readonly Watched[]): void {
  expect(watched.flatMap(({ complaints }) => complaints)).toEqual([]);
}

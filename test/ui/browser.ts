import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { isInstalled } from '../tools.ts';
import { HANG_MS } from '../until.ts';
import { launchBrowser } from './launch.ts';
import type { Stage } from './stage.ts';

/** Waits until a value is as expected. */
export function eventually<T>(look: () => T | Promise<T>) {
  return expect.poll(look, { interval: 50 });
}

/** Whether a text ends with how many minutes ago something was, at some moment while it was read. */
export async function showsAge(text: Locator, before: string, at: number): Promise<boolean> {
  const minutes = (): number => Math.floor((Date.now() - at) / 60_000);
  const first = minutes();
  const shown = await text.innerText();
  // A page shows whole seconds, and rounds.
  const last = Math.floor((Date.now() + 1_000 - at) / 60_000);
  return [first, minutes(), last].some((count) => shown === `${before} ${count}m`);
}

/** What a browser complained about; the daemon's policy is never loosened for a test. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Violations of the policy, errors of the page, errors in the console. */
  readonly complaints: string[];
}

/** A window as it is on a desk; cards that glide and dialogs that fade in would only have to be waited for. */
const DESK = { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' } as const;

let browser: Browser | undefined;

/** One browser for all files that this process runs, with which it ends. Each test has a window of its own, or its file has. */
export function useBrowser(): () => Browser {
  beforeAll(async () => {
    if (browser?.isConnected() !== true && isInstalled('chromium')) browser = await launchBrowser();
  });
  return () => browser as Browser;
}

/** A window of its own, and what runs in its page before the dashboard does. */
export interface WindowOptions extends BrowserContextOptions {
  readonly script?: string;
}

/** Opens a page of the dashboard in a window of its own, as `troupe ui` does, logged in by a code. */
export async function openPage(
  browser: Browser,
  client: Client,
  path = '/',
  { script, ...options }: WindowOptions = {},
): Promise<Watched> {
  const { watched, traffic } = await openWindow(browser, options);
  if (script !== undefined) await watched.page.addInitScript(script);
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await report(watched, traffic);
    await watched.context.close();
  });
  await enter(watched.page, client, path);
  return watched;
}

/** How the one page of a file is looked at. */
export interface Look {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly reducedMotion?: 'reduce' | 'no-preference';
}

/**
 * One page for all tests of a file on its stage, loaded and logged in once: to load one takes the processor four times as long as to
 * go on in it, as links do. Nothing that a test left in it is there for the next, and after a test that failed there is a new one.
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

/** A window without a page in it yet, and all that is heard of it. */
async function openWindow(browser: Browser, options: BrowserContextOptions) {
  const context = await browser.newContext({ ...DESK, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(HANG_MS);
  const complaints: string[] = [];
  const traffic = noteTraffic(page);
  page.on('pageerror', (error) => complaints.push(`error: ${error.stack || error.message}`));
  page.on('console', (message) => {
    // A daemon that is away is told to the person, and by the browser to its console.
    const isAbsence =
      /ERR_(CONNECTION|SOCKET|EMPTY|PROXY|TUNNEL|INTERNET|NETWORK)|WebSocket connection to .* failed/.test(
        message.text(),
      );
    if (message.type() !== 'error' || isAbsence) return;
    // Of what could not be loaded the text does not say what it was; the code after the # is nobody's business.
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

/** Leaves a page with nothing in it that a later test could find; false where that cannot be. */
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

/** How a page got on with its daemon, which other pages and requests hide: for a test that failed. */
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

/** Nothing was complained about. */
export function expectQuiet(...watched: readonly Watched[]): void {
  expect(watched.flatMap(({ complaints }) => complaints)).toEqual([]);
}

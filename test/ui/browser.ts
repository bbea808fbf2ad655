import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { isInstalled } from '../tools.ts';
import { HANG_MS } from '../until.ts';
import { launchBrowser } from './launch.ts';

/** Waits until a value is as expected. */
export function eventually<T>(look: () => T | Promise<T>) {
  return expect.poll(look, { interval: 50 });
}

/** What a browser complained about; the daemon's policy is never loosened for a test. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Violations of the policy, errors of the page, errors in the console. */
  readonly complaints: string[];
}

/** One browser for all tests of a file; each page has its own cookies and is closed with its test. */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (isInstalled('chromium')) browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  return () => browser as Browser;
}

/** Opens a page of the dashboard as `troupe ui` does, logged in by a code, and listens to all that it complains about. */
export async function openPage(
  browser: Browser,
  client: Client,
  path = '/',
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(HANG_MS);
  const complaints: string[] = [];
  const traffic = noteTraffic(page);
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') console.error(await describePage(page), complaints, traffic);
    await context.close();
  });
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
  await page.addInitScript({ path: join(import.meta.dirname, 'pages/listen.js') });
  const { url } = await client.call('ui.login', {});
  await page.goto(url.replace('/#', `${path}#`));
  return { page, context, complaints };
}

/** How a page got on with its daemon, which other pages and requests hide: for a test that failed. */
function noteTraffic(page: Page): readonly string[] {
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

/** What a test that failed saw last. */
async function describePage(page: Page): Promise<string> {
  const text = await page.innerText('body', { timeout: 2_000 }).catch((error: unknown) => String(error));
  return `${page.url()} showed:\n${text}`;
}

/** Nothing was complained about. */
export function expectQuiet(...watched: readonly Watched[]): void {
  expect(watched.flatMap(({ complaints }) => complaints)).toEqual([]);
}

import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { findPrograms } from '../tools.ts';

const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];

/** Generous: other tests share the machine. */
const PATIENCE_MS = 10_000;

/** Waits until a value is as expected. */
export function eventually<T>(look: () => T | Promise<T>) {
  return expect.poll(look, { timeout: PATIENCE_MS, interval: 50 });
}

/** What a browser complained about; the daemon's policy is never loosened for a test. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Violations of the policy, errors of the page, errors in the console. */
  readonly complaints: string[];
}

/** The system's Chromium. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findPrograms('chromium')[0] as string, args: ARGUMENTS });
}

/** A browser for one test. */
export async function openBrowser(): Promise<Browser> {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  return browser;
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
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    // A daemon that is away is told to the person, and by the browser to its console.
    const isAbsence = /ERR_CONNECTION_REFUSED|WebSocket connection to .* failed/.test(message.text());
    if (message.type() === 'error' && !isAbsence) complaints.push(`console: ${message.text()}`);
  });
  await page.addInitScript({ path: join(import.meta.dirname, 'pages/listen.js') });
  const { url } = await client.call('ui.login', {});
  await page.goto(url.replace('/#', `${path}#`));
  return { page, context, complaints };
}

/** Nothing was complained about. */
export function expectQuiet(...watched: readonly Watched[]): void {
  expect(watched.flatMap(({ complaints }) => complaints)).toEqual([]);
}

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { HANG_MS } from '../until.ts';
import { DESK } from './browser.ts';

/** Opens a file from disk as a browser does. `faults`: what the browser complained about, and what it asked for. */
export async function openFile(browser: Browser, file: string, place = ''): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext(DESK);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(HANG_MS);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith('file:') && !url.startsWith('data:') && !url.startsWith('blob:')) faults.push(`asked: ${url}`);
  });
  page.on('websocket', (socket) => faults.push(`asked: ${socket.url()}`));
  await page.addInitScript({ path: join(import.meta.dirname, 'pages/listen.js') });
  await page.goto(pathToFileURL(file).href + place);
  await page.getByRole('note').waitFor();
  return { page, faults };
}

/** Goes to another place of the record, as its links do. */
export async function go(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#${place}`)}`);
}

import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { findPrograms } from '../tools.ts';

const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];

/** The system's Chromium. */
export async function launchBrowser(): Promise<Browser> {
  const [executablePath] = findPrograms('chromium');
  if (executablePath === undefined) throw new Error('chromium is not installed: install the package chromium');
  return chromium.launch({ executablePath, args: ARGUMENTS });
}

import type { Page } from 'playwright-core';
import { quantile } from './rounds.ts';

/** How evenly a page was drawn while it moved. */
export interface Frames {
  readonly p95: number;
  readonly longest: number;
  readonly perSecond: number;
}

/** Runs in the page: records the time of each frame until it is stopped. */
const START = `globalThis.frames = []; globalThis.isNoting = true; {
  let before = performance.now();
  const note = (now) => {
    frames.push(now - before);
    before = now;
    if (isNoting) requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
}`;

/**
 * Records the frames while `move` moves what is on the page. `count` says how much is in view: an empty page is drawn
 * fast.
 */
export async function noteFrames(page: Page, move: () => Promise<void>, count: () => Promise<number>): Promise<Frames> {
  const before = await count();
  await page.evaluate(START);
  await move();
  const frames = (await page.evaluate('isNoting = false, frames.slice(1)')) as number[];
  const after = await count();
  if (before === 0 || after === 0) throw new Error(`Nothing was in view: ${before} before, ${after} after`);
  const total = frames.reduce((sum, ms) => sum + ms, 0);
  return { p95: quantile(frames, 0.95), longest: Math.max(...frames), perSecond: (1000 * frames.length) / total };
}

/** Turns the mouse wheel over an element in many small steps, as a person does. */
export async function turnWheel(page: Page, selector: string): Promise<void> {
  await page.locator(selector).first().hover();
  for (let i = 0; i < 60; i++) await page.mouse.wheel(0, i < 40 ? 180 : -180);
}

/** Drags an element back and forth. */
export async function dragAbout(page: Page, selector: string): Promise<void> {
  const box = await page.locator(selector).first().boundingBox();
  if (!box) throw new Error(`${selector} is not there`);
  const [x, y] = [box.x + box.width / 2, box.y + 12];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 0; i < 60; i++) await page.mouse.move(x + 240 * Math.sin(i / 8), y + 3 * i);
  await page.mouse.up();
}

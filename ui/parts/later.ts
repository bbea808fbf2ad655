import { lazy } from 'react';
import type { ComponentType, LazyExoticComponent } from 'react';
import { call } from '../data/daemon.ts';

const loads: (() => Promise<unknown>)[] = [];

/** A part of the page that could not be had. */
export class LoadError extends Error {}

/** Whether the page can do without a part. */
interface LaterOptions {
  readonly isOptional?: boolean;
}

/** A part of the dashboard that is loaded when it is first shown, or when the browser has nothing else to do. */
export function later<P>(
  load: () => Promise<ComponentType<P>>,
  { isOptional = false }: LaterOptions = {},
): LazyExoticComponent<ComponentType<P>> {
  loads.push(load);
  return lazy(async () => ({ default: await load().catch(() => replacePage(isOptional)) }));
}

/** Loads all that is not there yet: what a page left open for hours goes to later may be gone from a newer daemon. */
export function loadAll(): void {
  whenIdle(async () => {
    // One after the other; what is loaded may bring in more.
    for (const load of loads) await load().catch(() => undefined);
  });
}

/** Runs something once what is on the screen has been drawn. */
export function whenIdle(run: () => unknown): void {
  // Not every browser tells when it is idle.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(run, { timeout: 1_000 });
  else setTimeout(run, 500);
}

/** A page that was replaced so recently and lacks a part again gains nothing by being replaced once more. */
const REPLACED_MS = 30_000;

/**
 * A browser that failed to load a module, because the daemon was ended meanwhile, say, answers the same for as long as the
 * page is there. So as soon as the daemon answers, the page gives way to a fresh one, which lacks nothing; its address
 * says what it shows.
 */
async function replacePage(isOptional: boolean): Promise<never> {
  const last = Number(sessionStorage.getItem('replaced') ?? 0);
  if (isOptional || Date.now() - last < REPLACED_MS) {
    throw new LoadError('A part of this page could not be loaded. Load the page again to get it.');
  }
  await call('team.list', {});
  sessionStorage.setItem('replaced', String(Date.now()));
  location.reload();
  return new Promise(() => {});
}

import { lazy } from 'react';
import type { ComponentType, LazyExoticComponent } from 'react';
import { reach } from '../data/daemon.ts';

const loads: (() => Promise<unknown>)[] = [];

/** A part of the dashboard that is loaded when it is first shown, or when the browser has nothing else to do. */
export function later<P>(load: () => Promise<ComponentType<P>>): LazyExoticComponent<ComponentType<P>> {
  loads.push(load);
  return lazy(async () => ({ default: await loadPatiently(load) }));
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

/** While the daemon is away it is waited for, as everything else of the page does. */
async function loadPatiently<T>(load: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await load();
    } catch (error) {
      if (reach.get() === 'live') throw error;
      await new Promise<void>((resolve) => {
        const stop = reach.subscribe(() => {
          if (reach.get() !== 'live') return;
          stop();
          resolve();
        });
      });
    }
  }
}

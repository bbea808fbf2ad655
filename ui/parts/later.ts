import { lazy } from 'react';
import type { ComponentType, LazyExoticComponent } from 'react';
import { call } from '../data/daemon.ts';

const loads: (() => Promise<unknown>)[] = [];

/** A part of the page that could not be loaded. */
export class LoadError extends Error {}

/** Whether the page works without this part. */
interface LaterOptions {
  readonly isOptional?: boolean;
}

/** A part of the dashboard that is loaded when it is first shown, or when the browser is idle. */
export function later<P>(
  load: () => Promise<ComponentType<P>>,
  { isOptional = false }: LaterOptions = {},
): LazyExoticComponent<ComponentType<P>> {
  loads.push(load);
  return lazy(async () => ({ default: await load().catch(() => replacePage(isOptional)) }));
}

/** Loads all remaining parts: after hours, a newer daemon may no longer have the files of this page. */
export function loadAll(): void {
  whenIdle(async () => {
    // One after the other; a loaded part may register more.
    for (const load of loads) await load().catch(() => undefined);
  });
}

/** Runs something after the page was drawn. */
export function whenIdle(run: () => unknown): void {
  // Not every browser has requestIdleCallback.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(run, { timeout: 1_000 });
  else setTimeout(run, 500);
}

/** If the page was reloaded more recently than this and lacks a part again, another reload would not help. */
const REPLACED_MS = 30_000;

/**
 * If a browser failed to load a module, for example because the daemon had stopped, it repeats that failure until the
 * page is reloaded. So the page reloads itself as soon as the daemon answers. Its address says what it shows.
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

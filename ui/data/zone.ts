import { createSignal } from './signal.ts';

/** The time zone of all times on the page. */
export type Zone = 'local' | 'utc';

// Tests format times without a browser.
const isUtc = typeof document !== 'undefined' && localStorage.getItem('zone') === 'utc';

export const zone = createSignal<Zone>(isUtc ? 'utc' : 'local');

export function setZone(next: Zone): void {
  if (next === 'local') localStorage.removeItem('zone');
  else localStorage.setItem('zone', next);
  zone.set(next);
}

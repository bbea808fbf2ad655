import type { KeyboardEvent } from 'react';

/** Arrow keys move from tab to tab, in a circle; tabs hidden by the page width are skipped. */
export function stepTab(event: KeyboardEvent<HTMLElement>): void {
  const all = event.currentTarget.parentElement?.querySelectorAll<HTMLElement>('[role=tab]') ?? [];
  const tabs = [...all].filter((one) => one.offsetParent);
  const at = tabs.findIndex((one) => one === event.currentTarget);
  const places: Readonly<Record<string, number>> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1 };
  const place = places[event.key];
  if (at < 0 || place === undefined) return;
  event.preventDefault();
  const next = tabs.at(place % tabs.length);
  next?.focus();
  next?.click();
}

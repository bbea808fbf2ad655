import { createSignal } from './signal.ts';

/** What a person chose for this browser. */
export type Theme = 'light' | 'dark' | 'system';

const DARK = matchMedia('(prefers-color-scheme: dark)');

export const theme = createSignal<Theme>(readTheme());
/** The theme in use, also if the system chose it. */
export const shade = createSignal<'light' | 'dark'>(shadeOf(theme.get()));
/** Whether the person wants notifications, if the browser allows them. */
export const wantsNotices = createSignal(localStorage.getItem('notices') !== 'off');

DARK.addEventListener('change', () => applyTheme());

/** `first.js` reads the same entry before the first paint. */
export function setTheme(next: Theme): void {
  if (next === 'system') localStorage.removeItem('theme');
  else localStorage.setItem('theme', next);
  theme.set(next);
  applyTheme();
}

export function setWantsNotices(wants: boolean): void {
  if (wants) localStorage.removeItem('notices');
  else localStorage.setItem('notices', 'off');
  wantsNotices.set(wants);
}

function applyTheme(): void {
  const next = shadeOf(theme.get());
  document.documentElement.dataset['theme'] = next;
  shade.set(next);
}

function readTheme(): Theme {
  const chosen = localStorage.getItem('theme');
  return chosen === 'dark' || chosen === 'light' ? chosen : 'system';
}

function shadeOf(chosen: Theme): 'light' | 'dark' {
  if (chosen !== 'system') return chosen;
  return DARK.matches ? 'dark' : 'light';
}

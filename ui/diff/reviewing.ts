import { createContext, use } from 'react';
import type { LineName, Reviewed } from '../data/review-drafts.ts';
import type { Line } from './rows.ts';

/** The work whose lines can be commented on; undefined if the page shows something else. */
export const Reviewing = createContext<Reviewed | undefined>(undefined);

export function useReviewing(): Reviewed | undefined {
  return use(Reviewing);
}

/** How a comment names a line: in the work as it was handed in, or one that the work removed. */
export function nameLine(path: string, { sign, old = 0, fresh = 0 }: Pick<Line, 'sign' | 'old' | 'fresh'>): LineName {
  return sign === '-' ? { path, line: old, side: 'old' } : { path, line: fresh, side: 'new' };
}

const BUTTON = 'button.diff-comment-on';

/** Moves the focus to the first line in sight that can be commented on. */
export function focusLine(box: HTMLElement): void {
  const top = box.getBoundingClientRect().top + HEAD_HEIGHT;
  const buttons = [...box.querySelectorAll<HTMLElement>(BUTTON)];
  (buttons.find((button) => button.getBoundingClientRect().top >= top) ?? buttons[0])?.focus();
}

/** The head of a file covers the first lines. */
const HEAD_HEIGHT = 40;

/** Moves the focus from line to line, or to the other side. Returns whether the key does that. */
export function stepLine(box: HTMLElement, key: string): boolean {
  const from = document.activeElement;
  const row = from?.matches(BUTTON) ? from.closest<HTMLElement>('.diff-row') : null;
  if (!from || !row || !box.contains(row)) return false;
  const side = from.getAttribute('data-side');
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    [...row.querySelectorAll<HTMLElement>(BUTTON)].find((button) => button !== from)?.focus();
    return true;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (step === undefined) return false;
  const rows = [...box.querySelectorAll<HTMLElement>('.diff-row')];
  for (let i = rows.indexOf(row) + step; i >= 0 && i < rows.length; i += step) {
    const buttons = [...(rows[i]?.querySelectorAll<HTMLElement>(BUTTON) ?? [])];
    const next = buttons.find((button) => button.getAttribute('data-side') === side) ?? buttons[0];
    if (!next) continue;
    next.focus();
    return true;
  }
  return true;
}

import { useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';

/** With more cards than people can follow, there is no animation. */
const FOLLOWED = 300;
const GLIDE_MS = 320;
const EASE = 'cubic-bezier(0.2, 0, 0, 1)';

/** Cards glide to their new places; one that changed its column is highlighted for a moment. */
export function useGlide(board: RefObject<HTMLElement | null>, arrangement: unknown): void {
  const before = useRef(new Map<string, { x: number; y: number; column: string }>());
  useLayoutEffect(() => {
    const cards = board.current?.querySelectorAll<HTMLElement>('[data-task]') ?? [];
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches || cards.length > FOLLOWED;
    const scroll = { x: board.current?.scrollLeft ?? 0, y: board.current?.scrollTop ?? 0 };
    const next = new Map<string, { x: number; y: number; column: string }>();
    for (const card of isCalm ? [] : cards) {
      const { left, top } = card.getBoundingClientRect();
      const here = {
        x: left + scroll.x,
        y: top + scroll.y,
        column: card.closest<HTMLElement>('[data-phase]')?.dataset['phase'] ?? '',
      };
      const id = card.dataset['task'] ?? '';
      const old = before.current.get(id);
      next.set(id, here);
      if (!old || (old.x === here.x && old.y === here.y)) continue;
      const transform = `translate(${old.x - here.x}px, ${old.y - here.y}px)`;
      card.animate([{ transform }, { transform: 'none' }], { duration: GLIDE_MS, easing: EASE });
      if (old.column === here.column) continue;
      const glow = { boxShadow: '0 0 0 3px var(--accent)', zIndex: 1 };
      card.animate([glow, { ...glow, offset: 0.4 }, { boxShadow: '0 0 0 3px transparent' }], { duration: 1_200 });
    }
    before.current = next;
  }, [arrangement]);
}

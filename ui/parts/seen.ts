import { useCallback, useState } from 'react';

/**
 * Whether the end of a text was on the screen: `markRef` belongs to an empty element after it. Once it was, that stays
 * so. A text that scrolls in a box, or is cut off, counts as seen only when its own end is in view.
 */
export function useSeen(): { markRef: (mark: HTMLElement | null) => (() => void) | undefined; isSeen: boolean } {
  const [isSeen, setSeen] = useState(false);
  const markRef = useCallback((mark: HTMLElement | null) => {
    if (!mark) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(mark);
    return () => observer.disconnect();
  }, []);
  return { markRef, isSeen };
}

import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { RefObject } from 'react';

/** A person needs about this long to see what is new, and a double click is over. */
const SETTLE_MS = 700;
const LOOK_MS = 100;

/**
 * Whether an element has been at its place for a while. A button that has just appeared or moved takes no click: the
 * click was meant for what was there before. `check` says it for this very moment. The time begins again when `what`
 * changes, which says what the buttons do.
 */
export function useSettled(what = ''): {
  ref: RefObject<HTMLDivElement | null>;
  isSettled: boolean;
  check: () => boolean;
} {
  const ref = useRef<HTMLDivElement>(null);
  const place = useRef({ text: '', since: 0 });
  /** What the buttons did when they had settled. */
  const [settledFor, setSettledFor] = useState<string>();
  const current = useRef(what);
  current.current = what;
  const check = (): boolean => {
    const now = `${placeOf(ref.current)} ${current.current}`;
    if (now !== place.current.text) place.current = { text: now, since: performance.now() };
    return performance.now() - place.current.since >= SETTLE_MS;
  };
  useEffect(() => {
    const timer = setInterval(() => setSettledFor(check() ? current.current : undefined), LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  // What was just drawn may have moved the buttons: until the next look they would seem to take a click.
  useLayoutEffect(() => {
    if (!check()) setSettledFor(undefined);
  });
  return { ref, isSettled: settledFor === what, check };
}

/** Where an element is on its page, and its height. Scrolling does not change that: the person does it. */
function placeOf(element: HTMLElement | null): string {
  let [x, y] = [0, 0];
  for (let at: Element | null = element; at instanceof HTMLElement; at = at.offsetParent) {
    x += at.offsetLeft;
    y += at.offsetTop;
  }
  return `${x} ${y} ${element?.offsetHeight ?? 0}`;
}

import { useEffect, useState } from 'react';
import type { RefObject } from 'react';
import { placeIn } from './span.ts';
import type { Span } from './span.ts';

/** The shortest part of a history that fills the line. */
const LEAST_MS = 2_000;
/** One press of a button or a key. */
const STEP = 2;
/** A notch of a wheel is about 100. */
const PER_NOTCH = 0.0025;

/** A part of the history. At its end it follows the present. */
interface Part extends Span {
  readonly isToEnd: boolean;
}

/** The part of the history that the line shows, and ways to change it. */
export interface TimeWindow {
  readonly span: Span;
  readonly isZoomed: boolean;
  /** Whether the end of the line is the end of the history. */
  readonly isToEnd: boolean;
  readonly closer: () => void;
  readonly farther: () => void;
  readonly showAll: () => void;
}

/** Zooms the line: by the wheel around the pointer, by buttons and keys around the shown moment. */
export function useWindow(whole: Span, at: number, track: RefObject<HTMLElement | null>): TimeWindow {
  const [part, setPart] = useState<Part>();
  const span = part ? { start: part.start, end: part.isToEnd ? whole.end : part.end } : whole;
  useEffect(() => {
    const element = track.current;
    if (!element) return undefined;
    const turn = (event: WheelEvent): void => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      const long = span.end - span.start;
      // A page or a line counts as so many pixels.
      const unit = [1, 16, 400][event.deltaMode] ?? 1;
      const isAside = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (isAside) {
        const by = ((event.deltaX || event.deltaY) * unit * long) / box.width;
        setPart(within(whole, { start: span.start + by, end: span.end + by }));
        return;
      }
      const around = span.start + ((event.clientX - box.left) / box.width) * long;
      setPart(zoom(whole, span, Math.exp(event.deltaY * unit * PER_NOTCH), around));
    };
    // React's own listener could not keep the page from moving.
    element.addEventListener('wheel', turn, { passive: false });
    return () => element.removeEventListener('wheel', turn);
  }, [whole.start, whole.end, span.start, span.end]);
  // A moment outside of the line is not what a person zooms to.
  const focus = at >= span.start && at <= span.end ? at : (span.start + span.end) / 2;
  return {
    span,
    isZoomed: part !== undefined,
    isToEnd: part?.isToEnd ?? true,
    closer: () => setPart(zoom(whole, span, 1 / STEP, focus)),
    farther: () => setPart(zoom(whole, span, STEP, focus)),
    showAll: () => setPart(undefined),
  };
}

/** The part of a history that is `factor` times as long; what is at `around` stays where it is on the line. */
export function zoom(whole: Span, span: Span, factor: number, around: number): Part | undefined {
  const long = Math.max(LEAST_MS, (span.end - span.start) * factor);
  const part = placeIn(span, around);
  return within(whole, { start: around - part * long, end: around + (1 - part) * long });
}

/** Moves a part into the history; undefined if it is all of it. */
function within(whole: Span, { start, end }: Span): Part | undefined {
  const long = end - start;
  if (long >= whole.end - whole.start) return undefined;
  const from = Math.max(whole.start, Math.min(whole.end - long, start));
  return { start: from, end: from + long, isToEnd: from + long >= whole.end };
}

import type { TaskView } from '../../data/task-view.ts';
import { NODE_HEIGHT, NODE_WIDTH } from './arrange.ts';
import type { Places } from './arrange.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The visible part of the graph: its origin on the screen, and its zoom. */
export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** Below this zoom, titles cannot be read. */
const READABLE = 0.62;
const MARGIN = 28;
const LEGEND = 24;
/** At most this many tasks in progress are considered, the first ones. */
const FRONT = 40;

/**
 * The first view: everything if that is readable, else the area where work happens, with one column before it. It
 * begins at the edge of a column, so nothing is cut on the left.
 */
export function firstSight(tasks: readonly TaskView[], places: Places, { width, height }: Size): Viewport {
  const shown = tasks.filter(({ id }) => places[id]);
  const whole = boxOf(shown, places);
  const fitting = Math.min(
    (width - 2 * MARGIN) / (whole.right - whole.left),
    (height - 2 * MARGIN) / (whole.bottom - whole.top),
  );
  if (fitting >= READABLE) {
    const zoom = Math.min(1, fitting);
    return {
      zoom,
      x: (width - (whole.left + whole.right) * zoom) / 2,
      y: (height - (whole.top + whole.bottom) * zoom) / 2,
    };
  }
  const room = { width: (width - 2 * MARGIN) / READABLE, height: (height - 2 * MARGIN) / READABLE };
  const front = boxOf(thickOf(frontOf(shown), places, room), places);
  const zoom = Math.max(READABLE, Math.min(1, (height - 2 * MARGIN) / (front.bottom - front.top)));
  const [seenWidth, seenHeight] = [(width - 2 * MARGIN) / zoom, (height - 2 * MARGIN) / zoom];
  const columns = [...new Set(shown.map(({ id }) => places[id]?.[0] ?? 0))].sort((a, b) => a - b);
  const before = columns.findLast((x) => x < front.left) ?? front.left;
  const left = front.right - before <= seenWidth ? before : front.left;
  const middle = (front.top + front.bottom) / 2 - seenHeight / 2;
  const top =
    whole.bottom - whole.top <= seenHeight
      ? // At the top, because the small map and the buttons are at the bottom.
        whole.top - Math.min(LEGEND / zoom, seenHeight - (whole.bottom - whole.top))
      : Math.max(whole.top, Math.min(whole.bottom - seenHeight, middle));
  return { zoom, x: MARGIN - left * zoom, y: MARGIN - top * zoom };
}

/** The tasks in progress; if there are none, those that could be taken; else all. */
function frontOf(shown: readonly TaskView[]): readonly TaskView[] {
  const at = shown.filter(({ phase }) => phase === 'in_progress' || phase === 'gate');
  if (at.length > 0) return at.slice(0, FRONT);
  const next = shown.filter(({ phase }) => phase === 'pending' || phase === 'failed');
  return (next.length > 0 ? next : shown).slice(0, FRONT);
}

/** The largest group of these that fits into the view together. */
function thickOf(front: readonly TaskView[], places: Places, room: Size): readonly TaskView[] {
  const near = (one: TaskView): TaskView[] => {
    const [x, y] = places[one.id] ?? [0, 0];
    return front.filter(({ id }) => {
      const [otherX, otherY] = places[id] ?? [0, 0];
      return Math.abs(otherX - x) < room.width / 2 - NODE_WIDTH && Math.abs(otherY - y) < room.height / 2 - NODE_HEIGHT;
    });
  };
  return front.map(near).reduce((most, some) => (some.length > most.length ? some : most), front.slice(0, 1));
}

function boxOf(tasks: readonly TaskView[], places: Places) {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { id } of tasks) {
    const [x, y] = places[id] ?? [0, 0];
    box.left = Math.min(box.left, x);
    box.top = Math.min(box.top, y);
    box.right = Math.max(box.right, x + NODE_WIDTH);
    box.bottom = Math.max(box.bottom, y + NODE_HEIGHT);
  }
  return box;
}

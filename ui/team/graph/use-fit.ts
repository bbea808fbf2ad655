import { useReactFlow, useStoreApi } from '@xyflow/react';
import { useEffect, useLayoutEffect, useRef } from 'react';
import type { TaskView } from '../../data/task-view.ts';
import { NODE_HEIGHT, NODE_WIDTH } from './arrange.ts';
import type { Viewport } from './first-sight.ts';
import type { Drawing } from './use-items.ts';

const MARGIN = 40;
/** A task is opened at this zoom or closer. */
const READABLE = 0.7;
const GLIDE_MS = 240;
/** Long enough for the next letter of a filter. */
const PAUSE_MS = 200;
const STILL = matchMedia('(prefers-reduced-motion: reduce)');

/** Moves the graph: to what matches a filter, back when the filter is cleared, and to a task that is opened. */
export function useFit({
  drawing,
  found,
  filterKey,
  taskId,
  isSighted,
  isLarge,
}: {
  drawing: Drawing;
  found: readonly TaskView[] | undefined;
  filterKey: string;
  taskId: string | undefined;
  isSighted: boolean;
  isLarge: boolean;
}): void {
  const { setViewport, getViewport } = useReactFlow();
  const flow = useStoreApi();
  const latest = useRef({ drawing, found });
  latest.current = { drawing, found };
  // Gliding over a large graph would draw hundreds of tasks on the way.
  const duration = isLarge || STILL.matches ? 0 : GLIDE_MS;

  const before = useRef<Viewport>(undefined);
  useEffect(() => {
    if (!isSighted) return undefined;
    if (filterKey === '') {
      if (before.current) void setViewport(before.current, { duration });
      before.current = undefined;
      return undefined;
    }
    const timer = setTimeout(() => {
      before.current ??= getViewport();
      const { width, height } = flow.getState();
      const spots = spotsOf(latest.current.drawing, latest.current.found ?? []);
      const next = fit(spots, width, height);
      if (next) void setViewport(next, { duration });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [filterKey, isSighted]);

  const spot = taskId === undefined ? undefined : drawing.spots[drawing.itemOf.get(taskId)?.id ?? ''];
  const { isSettled } = drawing;
  const opened = useRef<{ taskId: string; isOver: boolean }>(undefined);
  useEffect(() => {
    if (taskId === undefined) opened.current = undefined;
    if (taskId === undefined || !spot || !isSighted) return;
    // A task that was in a fold gets its place a moment later. After that, a person may move elsewhere.
    if (opened.current?.taskId === taskId && opened.current.isOver) return;
    opened.current = { taskId, isOver: isSettled };
    const { width, height, domNode } = flow.getState();
    const room = { width: width - coveredBySheet(domNode), height };
    const { x, y, zoom } = getViewport();
    const [left, top] = [spot[0] * zoom + x, spot[1] * zoom + y];
    const isInSight =
      left >= 0 && top >= 0 && left + NODE_WIDTH * zoom <= room.width && top + NODE_HEIGHT * zoom <= room.height;
    if (isInSight && zoom >= READABLE) return;
    const next = Math.max(zoom, READABLE);
    void setViewport(
      {
        zoom: next,
        x: room.width / 2 - (spot[0] + NODE_WIDTH / 2) * next,
        y: room.height / 2 - (spot[1] + NODE_HEIGHT / 2) * next,
      },
      { duration },
    );
  }, [taskId, spot?.[0], spot?.[1], isSighted, isSettled]);
}

/** Keeps a node where it is on the screen when it is unfolded and the graph is arranged again. */
export function useHold({ spots, isSettled }: Drawing): (id: string) => void {
  const { setViewport, getViewport } = useReactFlow();
  const held = useRef<{ id: string; spot: readonly [number, number] | undefined }>(undefined);
  useLayoutEffect(() => {
    const { id, spot } = held.current ?? { id: '', spot: undefined };
    const next = spots[id];
    // It may move twice: at once, and when the graph is arranged again.
    held.current = isSettled || !next ? undefined : { id, spot: next };
    if (!spot || !next || (next[0] === spot[0] && next[1] === spot[1])) return;
    const { x, y, zoom } = getViewport();
    void setViewport({ zoom, x: x + (spot[0] - next[0]) * zoom, y: y + (spot[1] - next[1]) * zoom });
  }, [spots, isSettled]);
  return (id) => {
    held.current = { id, spot: spots[id] };
  };
}

/** How much of the graph's right side the sheet of a task covers. */
function coveredBySheet(graph: HTMLElement | null): number {
  const sheet = document.querySelector('.sheet')?.getBoundingClientRect();
  const box = graph?.getBoundingClientRect();
  if (!sheet || !box || sheet.left <= box.left) return 0;
  return Math.max(0, box.right - sheet.left);
}

function spotsOf({ itemOf, spots }: Drawing, found: readonly TaskView[]) {
  return found.flatMap(({ id }) => {
    const spot = spots[itemOf.get(id)?.id ?? ''];
    return spot ? [spot] : [];
  });
}

function fit(spots: readonly (readonly [number, number])[], width: number, height: number): Viewport | undefined {
  if (spots.length === 0) return undefined;
  const left = Math.min(...spots.map(([x]) => x));
  const right = Math.max(...spots.map(([x]) => x)) + NODE_WIDTH;
  const top = Math.min(...spots.map(([, y]) => y));
  const bottom = Math.max(...spots.map(([, y]) => y)) + NODE_HEIGHT;
  const fitting = Math.min((width - 2 * MARGIN) / (right - left), (height - 2 * MARGIN) / (bottom - top));
  const zoom = Math.max(0.05, Math.min(1, fitting));
  return { zoom, x: (width - (left + right) * zoom) / 2, y: (height - (top + bottom) * zoom) / 2 };
}

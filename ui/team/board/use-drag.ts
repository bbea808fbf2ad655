import { useEffect, useRef, useState } from 'react';
import type { PointerEvent as PressEvent } from 'react';
import { createSignal } from '../../data/signal.ts';
import type { Signal } from '../../data/signal.ts';
import { TASK_PHASES } from '../../data/task-view.ts';
import type { TaskPhase } from '../../data/task-view.ts';

/** Where a card would be dropped: a column, and how many cards are above. */
export interface Place {
  readonly phase: TaskPhase;
  readonly index: number;
}

/** A card that is being dragged. */
export interface Drag {
  readonly id: string;
  readonly width: number;
  readonly place: Place | undefined;
}

/** Hands tremble: a smaller movement is a click. */
const THRESHOLD = 6;
/** Nearer than this to an edge, the board scrolls. */
const EDGE = 48;
const SCROLL_STEP = 16;

/**
 * Drag and drop with a mouse or a pen. Fingers scroll with the same movement, so touch and keyboard use the menu of the
 * card. The pointer's position bypasses React: only the dragged card follows it.
 */
export function useDrag(onDrop: (id: string, place: Place) => void): {
  drag: Drag | undefined;
  hand: Signal<{ x: number; y: number }>;
  press: (event: PressEvent<HTMLElement>, id: string) => void;
} {
  const [drag, setDrag] = useState<Drag>();
  const [hand] = useState(() => createSignal({ x: 0, y: 0 }));
  const end = useRef<() => void>(undefined);
  useEffect(() => () => end.current?.(), []);
  const press = (event: PressEvent<HTMLElement>, id: string): void => {
    if (event.button !== 0 || event.pointerType === 'touch') return;
    const card = event.currentTarget;
    const board = card.closest<HTMLElement>('.board');
    const box = card.getBoundingClientRect();
    const grip = { x: event.clientX - box.left, y: event.clientY - box.top };
    const from = { x: event.clientX, y: event.clientY };
    let place: Place | undefined;
    let isDragging = false;
    const stop = new AbortController();
    const finish = (): void => {
      stop.abort();
      end.current = undefined;
      if (isDragging) setDrag(undefined);
    };
    end.current = finish;
    const move = ({ clientX, clientY }: PointerEvent): void => {
      if (!isDragging && Math.hypot(clientX - from.x, clientY - from.y) < THRESHOLD) return;
      const isFirst = !isDragging;
      isDragging = true;
      hand.set({ x: clientX - grip.x, y: clientY - grip.y });
      if (board) scrollNear(board, clientX, clientY);
      const next = placeAt(clientX, clientY, id);
      if (!isFirst && next?.phase === place?.phase && next?.index === place?.index) return;
      place = next;
      setDrag({ id, width: box.width, place });
    };
    const drop = (): void => {
      const wasDragging = isDragging;
      finish();
      if (!wasDragging) return;
      // A drag that ends on its own card is also a click, which would open the task.
      addEventListener('click', (click) => click.preventDefault(), { capture: true, once: true, signal: soon() });
      if (place) onDrop(id, place);
    };
    const cancel = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') finish();
    };
    addEventListener('pointermove', move, { signal: stop.signal });
    addEventListener('pointerup', drop, { signal: stop.signal });
    addEventListener('pointercancel', finish, { signal: stop.signal });
    addEventListener('keydown', cancel, { signal: stop.signal, capture: true });
  };
  return { drag, hand, press };
}

function soon(): AbortSignal {
  return AbortSignal.timeout(50);
}

function placeAt(x: number, y: number, id: string): Place | undefined {
  const column = document
    .elementsFromPoint(x, y)
    .map((element) => element.closest<HTMLElement>('.column[data-phase]'))
    .find((element) => element !== null);
  const phase = TASK_PHASES.find((one) => one === column?.dataset['phase']);
  if (!column || !phase) return undefined;
  const others = [...column.querySelectorAll<HTMLElement>('[data-task]')].filter((card) => card.dataset['task'] !== id);
  const index = others.filter((card) => {
    const { top, height } = card.getBoundingClientRect();
    return top + height / 2 < y;
  }).length;
  return { phase, index };
}

function scrollNear(board: HTMLElement, x: number, y: number): void {
  const { left, right, top, bottom } = board.getBoundingClientRect();
  const by = (low: number, high: number, at: number): number =>
    at < low + EDGE ? -SCROLL_STEP : at > high - EDGE ? SCROLL_STEP : 0;
  board.scrollBy(by(left, right, x), by(top, bottom, y));
}

import { useLayoutEffect, useRef, useState } from 'react';
import type { KeyboardEvent, RefObject } from 'react';
import type { TaskPhase, TaskView } from '../../data/task-view.ts';
import type { Priority } from '../../forms/priorities.ts';
import { toggleChosen } from '../bulk/chosen.ts';
import { nextPriority } from './order.ts';

interface Deeds {
  readonly move: (id: string, to: TaskPhase) => void;
  readonly canMove: (id: string, to: TaskPhase) => boolean;
  readonly priorityOf: (view: TaskView) => Priority;
  readonly setPriority: (view: TaskView, priority: Priority) => void;
  readonly openMenu: (id: string, anchor: HTMLElement) => void;
}

type Columns = readonly (readonly [TaskPhase, readonly TaskView[]])[];

/** One tab stop. Arrow keys move from card to card; with Shift they move the card. The focus follows a moved card. */
export function useBoardKeys(box: RefObject<HTMLElement | null>, columns: Columns, deeds: Deeds) {
  const [current, setCurrent] = useState<string>();
  const held = useRef<string>(undefined);
  const cardOf = (id: string): HTMLElement | null =>
    box.current?.querySelector<HTMLElement>(`[data-task="${CSS.escape(id)}"] a`) ?? null;
  const isThere = columns.some(([, cards]) => cards.some(({ id }) => id === current));
  const stop = isThere ? current : columns.find(([, cards]) => cards.length > 0)?.[1][0]?.id;

  useLayoutEffect(() => {
    // The focused card is rendered again in its next column.
    if (held.current !== undefined && document.activeElement === document.body) cardOf(held.current)?.focus();
  }, [columns]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const id = (event.target as HTMLElement).closest<HTMLElement>('[data-task]')?.dataset['task'];
    if (id === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = columns.findIndex(([, cards]) => cards.some((card) => card.id === id));
    const [, cards = []] = columns[at] ?? [];
    const row = cards.findIndex((card) => card.id === id);
    const view = cards[row];
    if (!view) return;
    const vertical = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const sideways = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === 'm' || event.key === 'M') deeds.openMenu(id, event.target as HTMLElement);
    else if (event.key === 'x') toggleChosen(id);
    else if (vertical !== undefined && event.shiftKey) {
      const priority = nextPriority(deeds.priorityOf(view), vertical);
      if (priority) deeds.setPriority(view, priority);
    } else if (vertical !== undefined) cardOf(cards[row + vertical]?.id ?? '')?.focus();
    else if (sideways !== undefined && event.shiftKey) moveSideways(id, at, sideways);
    else if (sideways !== undefined) {
      const next = inDirection(at, sideways).find(([, others]) => others.length > 0)?.[1];
      cardOf(next?.[Math.min(row, next.length - 1)]?.id ?? '')?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  /** To the nearest column that accepts it; if none does, the nearest one says why. */
  const moveSideways = (id: string, at: number, step: number): void => {
    const way = inDirection(at, step).map(([phase]) => phase);
    const to = way.find((phase) => deeds.canMove(id, phase)) ?? way[0];
    if (to !== undefined) deeds.move(id, to);
  };

  const inDirection = (at: number, step: number): Columns =>
    step > 0 ? columns.slice(at + 1) : columns.slice(0, at).toReversed();

  const focus = (id: string): void => {
    held.current = id;
    setCurrent(id);
  };
  return { stop, onKeyDown, focus };
}

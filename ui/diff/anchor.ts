import type { Virtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef } from 'react';
import { rowAt } from './model.ts';
import type { Model } from './model.ts';
import { nameOf } from './rows.ts';

/** What is at the top of the list. */
interface Anchor {
  readonly path: string;
  readonly name: string;
  readonly index: number;
  /** How far the list is scrolled beyond the row's beginning. */
  readonly by: number;
}

/** The row of the head of the file that was asked for, or -1. It keeps its place until somebody scrolls or works in the list. */
interface Asked {
  readonly head: number;
  readonly release: () => void;
}

/** Keeps what somebody reads at its place when rows come, go or change their height above it, or the layout changes. */
export function useAnchor(virtual: Virtualizer<HTMLDivElement, Element>, model: Model, { head, release }: Asked): void {
  const anchor = useRef<Anchor>(undefined);
  const last = useRef(model);
  const lastStart = useRef<number>(undefined);
  useLayoutEffect(() => {
    const isOther = last.current !== model;
    last.current = model;
    const start = virtual.measurementsCache[head]?.start;
    const isMoved = isOther || start !== lastStart.current;
    lastStart.current = start;
    const before = anchor.current;
    if (start !== undefined) {
      // The virtualizer learns where it is scrolled to only with the next event.
      if (isAt(virtual, head)) anchor.current = findTop(virtual, model, readOffset(virtual));
      else if (isMoved) virtual.scrollToIndex(head, { align: 'start' });
      // Nothing moved but the list: the browser scrolled it, for example to what somebody searched.
      else release();
      return;
    }
    if (before && isOther) {
      const index = findAnchor(model, before) ?? before.index;
      const start = virtual.measurementsCache[index]?.start ?? 0;
      anchor.current = { ...before, index };
      if (index !== before.index) virtual.scrollToOffset(start + before.by);
      return;
    }
    anchor.current = findTop(virtual, model, virtual.scrollOffset ?? 0) ?? before;
  });
}

/** Whether a row is at the top, or as near to it as the list can be scrolled. */
function isAt(virtual: Virtualizer<HTMLDivElement, Element>, index: number): boolean {
  const [wanted] = virtual.getOffsetForIndex(index, 'start') ?? [0];
  return Math.abs(readOffset(virtual) - wanted) < 2;
}

function readOffset({ scrollElement }: Virtualizer<HTMLDivElement, Element>): number {
  return scrollElement?.scrollTop ?? 0;
}

function findTop(virtual: Virtualizer<HTMLDivElement, Element>, model: Model, offset: number): Anchor | undefined {
  const item = virtual.getVirtualItemForOffset(offset);
  const found = item && rowAt(model, item.index);
  if (!item || !found) return undefined;
  return { path: found.file.change.path, name: nameOf(found.row), index: item.index, by: offset - item.start };
}

function findAnchor({ files }: Model, { path, name }: Anchor): number | undefined {
  const file = files.find(({ change }) => change.path === path);
  if (!file) return undefined;
  const at = file.rows.findIndex((row) => nameOf(row) === name);
  return file.start + Math.max(0, at);
}

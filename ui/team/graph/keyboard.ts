import { useReactFlow } from '@xyflow/react';
import { useState } from 'react';
import type { KeyboardEvent } from 'react';
import { plural } from '../../parts/format.ts';
import { PHASE_WORDS } from '../../parts/status.tsx';
import { NODE_HEIGHT, NODE_WIDTH } from './arrange.ts';
import type { Places } from './arrange.ts';
import type { Item, Line } from './items.ts';
import type { Drawing } from './use-items.ts';

const KEYS = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Enter', 'Home', '+', '=', '-', '0'];

/** What Enter does. */
interface Deeds {
  readonly openTask: (id: string) => void;
  readonly toggle: (id: string) => void;
}

/** One tab stop. Arrow keys follow the dependencies, or go up and down in the column. */
export function useKeyboard({ items, lines, spots, itemOf }: Drawing, { openTask, toggle }: Deeds) {
  const [current, setCurrent] = useState<string>();
  const { setCenter, getZoom, zoomIn, zoomOut, fitView } = useReactFlow();
  const go = (id: string | undefined): void => {
    const place = id === undefined ? undefined : spots[id];
    if (id === undefined || !place) return;
    setCurrent(id);
    const zoom = Math.max(getZoom(), 0.7);
    void setCenter(place[0] + NODE_WIDTH / 2, place[1] + NODE_HEIGHT / 2, { zoom, duration: 200 });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (!KEYS.includes(key)) return;
    event.preventDefault();
    // A task may be within a fold now.
    const item = items.find(({ id }) => id === current) ?? itemOf.get(current ?? '');
    if (key === '+' || key === '=') void zoomIn();
    else if (key === '-') void zoomOut();
    else if (key === '0') void fitView({ padding: 0.08 });
    else if (!item || key === 'Home') go(firstOf(items, spots));
    else if (key === 'Enter' && item.fold) toggle(item.id);
    else if (key === 'Enter') openTask(item.id);
    else if (key === 'ArrowLeft') go(nearest(item.id, needsOf(item.id, lines), spots));
    else if (key === 'ArrowRight') go(nearest(item.id, dependentsOf(item.id, lines), spots));
    else go(inColumn(item.id, key === 'ArrowDown' ? 1 : -1, items, spots));
  };
  return { current, setCurrent, onKeyDown };
}

function needsOf(id: string, lines: readonly Line[]): string[] {
  return lines.flatMap(({ from, to }) => (to === id ? from : []));
}

function dependentsOf(id: string, lines: readonly Line[]): string[] {
  return lines.flatMap(({ from, to }) => (from === id ? to : []));
}

function firstOf(items: readonly Item[], spots: Places): string | undefined {
  const all = items.filter(({ id }) => spots[id]);
  return (all.find(({ phase }) => phase === 'in_progress' || phase === 'gate') ?? all[0])?.id;
}

function nearest(id: string, others: readonly string[], spots: Places): string | undefined {
  const y = spots[id]?.[1] ?? 0;
  return others
    .filter((other) => spots[other])
    .toSorted((a, b) => Math.abs((spots[a]?.[1] ?? 0) - y) - Math.abs((spots[b]?.[1] ?? 0) - y))[0];
}

function inColumn(id: string, step: 1 | -1, items: readonly Item[], spots: Places): string | undefined {
  const [x = 0, y = 0] = spots[id] ?? [];
  return items
    .map((item) => item.id)
    .filter((other) => {
      const spot = spots[other];
      return spot && Math.abs(spot[0] - x) < NODE_WIDTH / 2 && (spot[1] - y) * step > 0;
    })
    .toSorted((a, b) => ((spots[a]?.[1] ?? 0) - (spots[b]?.[1] ?? 0)) * step)[0];
}

/** A node as a screen reader reads it. */
export function describeItem({ id, tasks, fold, phase }: Item): string {
  const [first] = tasks;
  if (fold || !first) {
    return `${plural(tasks.length, 'alike task')}, ${PHASE_WORDS[phase]}, ${fold === 'open' ? 'unfolded' : 'folded'}`;
  }
  const { task } = first;
  const holder = task.assigneeId ? `, ${task.assigneeId}` : '';
  return `#${id} ${task.title}, ${PHASE_WORDS[phase]}${holder}, needs ${task.dependencies.length}, unblocks ${task.blocks.length}`;
}

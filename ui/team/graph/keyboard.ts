import { useReactFlow } from '@xyflow/react';
import { useState } from 'react';
import type { KeyboardEvent } from 'react';
import { navigate, teamPath, withQuery } from '../../data/route.ts';
import type { TaskView } from '../../data/task-view.ts';
import { PHASE_WORDS } from '../../parts/status.tsx';
import { NODE_HEIGHT, NODE_WIDTH } from './arrange.ts';
import type { Places } from './arrange.ts';

/** One tab stop. Arrow keys follow the dependencies, or go up and down in the column. */
export function useKeyboard(teamId: string, byId: ReadonlyMap<string, TaskView>, places: Places) {
  const [current, setCurrent] = useState<string>();
  const { setCenter, getZoom } = useReactFlow();
  const go = (id: string | undefined): void => {
    const place = id === undefined ? undefined : places[id];
    if (id === undefined || !place) return;
    setCurrent(id);
    const zoom = Math.max(getZoom(), 0.7);
    void setCenter(place[0] + NODE_WIDTH / 2, place[1] + NODE_HEIGHT / 2, { zoom, duration: 200 });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const view = byId.get(current ?? '');
    const key = event.key;
    if (!['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Enter', 'Home'].includes(key)) return;
    event.preventDefault();
    if (!view || key === 'Home') go(firstOf(byId, places));
    else if (key === 'Enter') navigate(withQuery(teamPath(teamId, `/task/${view.id}`)));
    else if (key === 'ArrowLeft') go(nearest(view.id, view.task.dependencies, places));
    else if (key === 'ArrowRight') go(nearest(view.id, view.task.blocks, places));
    else go(inColumn(view.id, key === 'ArrowDown' ? 1 : -1, byId, places));
  };
  return { current, setCurrent, onKeyDown };
}

function firstOf(byId: ReadonlyMap<string, TaskView>, places: Places): string | undefined {
  const all = [...byId.values()].filter(({ id }) => places[id]);
  return (all.find(({ phase }) => phase === 'in_progress' || phase === 'gate') ?? all[0])?.id;
}

function nearest(id: string, others: readonly string[], places: Places): string | undefined {
  const y = places[id]?.[1] ?? 0;
  return others
    .filter((other) => places[other])
    .toSorted((a, b) => Math.abs((places[a]?.[1] ?? 0) - y) - Math.abs((places[b]?.[1] ?? 0) - y))[0];
}

function inColumn(id: string, step: 1 | -1, byId: ReadonlyMap<string, TaskView>, places: Places): string | undefined {
  const [x = 0, y = 0] = places[id] ?? [];
  return [...byId.keys()]
    .filter((other) => {
      const place = places[other];
      return place && Math.abs(place[0] - x) < NODE_WIDTH / 2 && (place[1] - y) * step > 0;
    })
    .toSorted((a, b) => ((places[a]?.[1] ?? 0) - (places[b]?.[1] ?? 0)) * step)[0];
}

/** A task as a screen reader reads it in the graph. */
export function describeTask({ id, task, phase }: TaskView): string {
  const holder = task.assigneeId ? `, ${task.assigneeId}` : '';
  return `#${id} ${task.title}, ${PHASE_WORDS[phase]}${holder}, needs ${task.dependencies.length}, unblocks ${task.blocks.length}`;
}

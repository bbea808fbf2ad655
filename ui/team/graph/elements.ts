import { MarkerType, Position } from '@xyflow/react';
import type { Edge, Node } from '@xyflow/react';
import { useMemo, useRef } from 'react';
import type { TaskView } from '../../data/task-view.ts';
import { useTeam } from '../../data/use-team.tsx';
import { NODE_HEIGHT, NODE_WIDTH } from './arrange.ts';
import type { Places } from './arrange.ts';

/** Given in advance: React Flow renders nodes with unknown handles to measure them, even out of sight. */
const SHAPE = {
  width: NODE_WIDTH,
  height: NODE_HEIGHT,
  measured: { width: NODE_WIDTH, height: NODE_HEIGHT },
  handles: [
    { type: 'target', position: Position.Left, x: 0, y: NODE_HEIGHT / 2 },
    { type: 'source', position: Position.Right, x: NODE_WIDTH, y: NODE_HEIGHT / 2 },
  ],
  data: {},
} satisfies Partial<Node>;

/** The tasks as nodes. They hold only their id, so a status change does not change them. */
export function useNodes(tasks: readonly TaskView[], places: Places, isFar: boolean): Node[] {
  const ids = useMemo(() => tasks.map(({ id }) => id), [tasks]);
  const key = ids.join();
  return useMemo(
    () =>
      ids.flatMap((id): Node[] => {
        const place = places[id];
        if (!place) return [];
        return [{ id, type: isFar ? 'far' : 'task', position: { x: place[0], y: place[1] }, ...SHAPE }];
      }),
    // `key` stands for the ids.
    [key, places, isFar],
  );
}

export const NO_EDGES: Edge[] = [];
const MARKER = { type: MarkerType.ArrowClosed, width: 11, height: 11, markerUnits: 'userSpaceOnUse' } as const;

/** The dependencies as edges; unchanged ones stay the same objects. There are none when zoomed out. */
export function useEdges(tasks: readonly TaskView[], places: Places, isFar: boolean): Edge[] {
  const critical = useTeam(({ view }) => view.critical.ids);
  const cache = useRef(new Map<string, Edge>());
  return useMemo(() => {
    if (isFar) return NO_EDGES;
    const phases = new Map(tasks.map(({ id, phase }) => [id, phase]));
    const next = new Map<string, Edge>();
    for (const { id, task } of tasks) {
      for (const need of task.dependencies) {
        if (!phases.has(need) || !places[need] || !places[id]) continue;
        const isMet = phases.get(need) === 'completed';
        const isCritical = critical.has(id) && critical.has(need);
        const className = `edge ${isMet ? 'met' : 'waits'}${isCritical ? ' critical' : ''}`;
        const key = `${need}-${id}`;
        const before = cache.current.get(key);
        next.set(
          key,
          before?.className === className
            ? before
            : { id: key, source: need, target: id, className, markerEnd: MARKER, focusable: false },
        );
      }
    }
    cache.current = next;
    return [...next.values()];
  }, [tasks, places, isFar, critical]);
}

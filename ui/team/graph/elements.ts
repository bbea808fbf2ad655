import { MarkerType, Position } from '@xyflow/react';
import type { Edge, Node } from '@xyflow/react';
import { useMemo, useRef } from 'react';
import { NODE_HEIGHT, NODE_WIDTH } from './arrange.ts';
import type { Places } from './arrange.ts';
import type { Item, Line } from './items.ts';

/** Given in advance: React Flow renders nodes with unknown handles to measure them, even out of sight. */
const SHAPE = {
  width: NODE_WIDTH,
  height: NODE_HEIGHT,
  measured: { width: NODE_WIDTH, height: NODE_HEIGHT },
  handles: [
    { type: 'target', position: Position.Left, x: 0, y: NODE_HEIGHT / 2 },
    { type: 'source', position: Position.Right, x: NODE_WIDTH, y: NODE_HEIGHT / 2 },
  ],
} satisfies Partial<Node>;

const NO_DATA = {};

/** The node of a fold has its item. The node of a task holds only its id, so a status change does not change it. */
export type GraphNode = Node<{ item?: Item }>;

/** The items as nodes; unchanged ones stay the same objects. */
export function useNodes(items: readonly Item[], spots: Places, isFar: boolean): GraphNode[] {
  const cache = useRef<{ key: string; nodes: GraphNode[] }>(undefined);
  return useMemo(() => {
    const before = new Map(cache.current?.nodes.map((node) => [node.id, node]));
    const nodes = items.flatMap((item): GraphNode[] => {
      const place = spots[item.id];
      if (!place) return [];
      const type = item.fold ? (isFar ? 'far-fold' : 'fold') : isFar ? 'far' : 'task';
      const old = before.get(item.id);
      const isSame = old?.type === type && old.position.x === place[0] && old.position.y === place[1];
      if (isSame && haveSameTasks(old.data.item, item)) return [old];
      const data = item.fold ? { item } : NO_DATA;
      return [{ id: item.id, type, position: { x: place[0], y: place[1] }, data, ...SHAPE }];
    });
    const key = nodes.map(({ id }) => id).join();
    const last = cache.current;
    // The same array: React Flow looks at every node of a new one.
    if (last?.key === key && last.nodes.every((node, i) => node === nodes[i])) return last.nodes;
    cache.current = { key, nodes };
    return nodes;
  }, [items, spots, isFar]);
}

function haveSameTasks(a: Item | undefined, b: Item): boolean {
  if (!b.fold) return true;
  return (
    a !== undefined &&
    a.fold === b.fold &&
    a.tasks.length === b.tasks.length &&
    a.tasks.every((view, i) => view === b.tasks[i])
  );
}

export const NO_EDGES: Edge[] = [];
const MARKER = { type: MarkerType.ArrowClosed, width: 11, height: 11, markerUnits: 'userSpaceOnUse' } as const;

/** The lines as edges; unchanged ones stay the same objects. There are none when zoomed out. */
export function useEdges(lines: readonly Line[], isFar: boolean): Edge[] {
  const cache = useRef(new Map<string, Edge>());
  return useMemo(() => {
    if (isFar) return NO_EDGES;
    const next = new Map<string, Edge>();
    for (const { from, to, isMet, isCritical } of lines) {
      const className = `edge ${isMet ? 'met' : 'waits'}${isCritical ? ' critical' : ''}`;
      const key = `${from}-${to}`;
      const before = cache.current.get(key);
      next.set(
        key,
        before?.className === className
          ? before
          : { id: key, source: from, target: to, className, markerEnd: MARKER, focusable: false },
      );
    }
    cache.current = next;
    return [...next.values()];
  }, [lines, isFar]);
}

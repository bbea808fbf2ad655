import { dagre } from 'd3-dag';
import { layOutInLayers } from './layers.ts';
import type { Knot } from './layers.ts';

/** The upper left corner of each task. */
export type Places = Readonly<Record<string, readonly [x: number, y: number]>>;

export interface LayoutRequest {
  readonly id: number;
  readonly tasks: readonly Knot[];
}

export const NODE_WIDTH = 212;
export const NODE_HEIGHT = 60;
const GAP_X = 56;
const GAP_Y = 20;
/** Up to this many tasks, the finer layout takes less than half a second; for 200 it takes more than a second. */
const FINE = 100;
const GRID_WIDTH = 4;

/**
 * Places the tasks in columns from left to right, every task to the right of its dependencies. Tasks without edges are
 * in rows below, because a column of hundreds could not be read.
 */
export function arrange(tasks: readonly Knot[]): Places {
  const known = new Set(tasks.map(([id]) => id));
  const edges = tasks.flatMap(([id, needs]) => needs.filter((one) => known.has(one)).map((one) => [one, id] as const));
  const linked = new Set(edges.flat());
  const places: Record<string, [number, number]> = {};
  let bottom = 0;
  let right = 0;
  if (linked.size > 0) {
    const spots = linked.size <= FINE ? layOutFinely([...linked], edges) : layOutFast(tasks, linked);
    const left = Math.min(...spots.map(({ x }) => x));
    const top = Math.min(...spots.map(({ y }) => y));
    for (const { id, x, y } of spots) {
      places[id] = [Math.round(x - left), Math.round(y - top)];
      bottom = Math.max(bottom, places[id][1] + NODE_HEIGHT);
      right = Math.max(right, places[id][0] + NODE_WIDTH);
    }
  }
  const alone = tasks.filter(([id]) => !linked.has(id));
  const columns = Math.max(
    GRID_WIDTH,
    Math.floor((right + GAP_X) / (NODE_WIDTH + GAP_X)),
    Math.round(Math.sqrt(alone.length / 2)),
  );
  const start = bottom === 0 ? 0 : bottom + 3 * GAP_Y;
  alone.forEach(([id], i) => {
    const row = Math.floor(i / columns);
    places[id] = [(i % columns) * (NODE_WIDTH + GAP_X), start + row * (NODE_HEIGHT + GAP_Y)];
  });
  return places;
}

interface Spot {
  readonly id: string;
  readonly x: number;
  readonly y: number;
}

function layOutFinely(ids: readonly string[], edges: readonly (readonly [string, string])[]): Spot[] {
  const graph = new dagre.graphlib.Graph();
  // The library names its two gaps for a graph that grows downwards, also when it grows to the right.
  graph.setGraph({ rankdir: 'LR', nodesep: GAP_X, ranksep: GAP_Y, quality: 'medium' });
  for (const id of ids) graph.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const [from, to] of edges) graph.setEdge(from, to);
  dagre.layout(graph);
  return ids.map((id) => ({ id, ...graph.node(id) }));
}

function layOutFast(tasks: readonly Knot[], linked: ReadonlySet<string>): Spot[] {
  const layers = layOutInLayers(tasks.filter(([id]) => linked.has(id)));
  return [...layers].map(([id, { column, row }]) => ({
    id,
    x: column * (NODE_WIDTH + GAP_X),
    y: row * (NODE_HEIGHT + GAP_Y),
  }));
}

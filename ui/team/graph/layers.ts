/** A task and its dependencies. */
export type Knot = readonly [id: string, dependencies: readonly string[]];

/** The centre of each task, as a column and a row. */
export type Layers = ReadonlyMap<string, { readonly column: number; readonly row: number }>;

/** Each sweep goes forth and back. More sweeps hardly reduce the crossings. */
const SORTING_SWEEPS = 6;
const ALIGNING_SWEEPS = 4;

interface Spot {
  readonly id: string;
  readonly before: Spot[];
  readonly after: Spot[];
  column: number;
  row: number;
}

/**
 * Places tasks in columns, each to the right of its dependencies, near its neighbours, with few crossings. For large
 * graphs: 1,000 tasks take about 20 ms. The fastest mode of d3-dag takes 600 ms on the same machine and crosses more.
 */
export function layOutInLayers(tasks: readonly Knot[]): Layers {
  const spots = link(tasks);
  const columns = putInColumns(spots);
  for (let i = 0; i < SORTING_SWEEPS + ALIGNING_SWEEPS; i++) {
    const maySort = i < SORTING_SWEEPS;
    for (const column of columns) settle(column, 'before', maySort);
    for (const column of columns.toReversed()) settle(column, 'after', maySort);
  }
  // The final pass considers both sides, so that no task is drawn to one side only.
  for (const column of columns) settle(column, 'both', false);
  return new Map(spots.map(({ id, column, row }) => [id, { column, row }]));
}

function link(tasks: readonly Knot[]): Spot[] {
  const spots = new Map<string, Spot>(
    tasks.map(([id]) => [id, { id, before: [], after: [], column: -1, row: 0 } satisfies Spot]),
  );
  for (const [id, dependencies] of tasks) {
    const spot = spots.get(id);
    for (const dependency of dependencies) {
      const before = spots.get(dependency);
      if (!spot || !before) continue;
      spot.before.push(before);
      before.after.push(spot);
    }
  }
  return [...spots.values()];
}

/** As far left as the dependencies allow; a task without dependencies is just left of the first task that needs it. */
function putInColumns(spots: readonly Spot[]): Spot[][] {
  const open = new Map(spots.map((spot) => [spot, spot.before.length]));
  const ready = spots.filter(({ before }) => before.length === 0);
  for (const spot of ready) {
    spot.column = Math.max(0, ...spot.before.map(({ column }) => column + 1));
    for (const after of spot.after) {
      const left = (open.get(after) ?? 0) - 1;
      open.set(after, left);
      if (left === 0) ready.push(after);
    }
  }
  for (const spot of spots) {
    if (spot.before.length === 0 && spot.after.length > 0) {
      spot.column = Math.min(...spot.after.map(({ column }) => column)) - 1;
    }
  }
  const columns: Spot[][] = [];
  for (const spot of spots) (columns[Math.max(0, spot.column)] ??= []).push(spot);
  // A column can be empty when all its tasks moved right.
  const filled = [...columns].filter((column) => column !== undefined && column.length > 0);
  filled.forEach((column, i) => {
    column.forEach((spot, row) => {
      spot.column = i;
      spot.row = row - (column.length - 1) / 2;
    });
  });
  return filled;
}

/** Moves the tasks of a column towards their neighbours. */
function settle(column: Spot[], side: 'before' | 'after' | 'both', maySort: boolean): void {
  const wishes = new Map(column.map((spot) => [spot, wishOf(spot, side)]));
  const wish = (spot: Spot): number => wishes.get(spot) ?? spot.row;
  if (maySort) column.sort((a, b) => wish(a) - wish(b));
  place(column, column.map(wish));
}

function wishOf(spot: Spot, side: 'before' | 'after' | 'both'): number {
  const others = side === 'both' ? [...spot.before, ...spot.after] : spot[side];
  if (others.length === 0) return spot.row;
  return others.reduce((sum, { row }) => sum + row, 0) / others.length;
}

/**
 * Places each task as near to its wish as possible, with the least sum of squares, while all keep their order and a
 * row's distance. Tasks that collide form a block, which goes to the average of its wishes.
 */
function place(column: readonly Spot[], wishes: readonly number[]): void {
  const blocks: { sum: number; count: number }[] = [];
  wishes.forEach((wish, i) => {
    blocks.push({ sum: wish - i, count: 1 });
    for (;;) {
      const last = blocks.at(-1);
      const before = blocks.at(-2);
      if (!last || !before || before.sum / before.count <= last.sum / last.count) break;
      before.sum += last.sum;
      before.count += last.count;
      blocks.pop();
    }
  });
  let i = 0;
  for (const { sum, count } of blocks) {
    for (let n = 0; n < count; n++, i++) (column[i] as Spot).row = sum / count + i;
  }
}

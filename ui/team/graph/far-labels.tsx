import { useStore as useFlow, ViewportPortal } from '@xyflow/react';
import { memo, useMemo } from 'react';
import { showControls } from '../../parts/controls.ts';
import { NODE_HEIGHT, NODE_WIDTH } from './arrange.ts';
import type { Places } from './arrange.ts';
import type { Item } from './items.ts';
import { scaleOf } from './levels.ts';

/** The size of a label on the screen. */
const WIDTH = 132;
const HEIGHT = 18;
/** More names would be read by nobody. */
const MOST = 40;

/**
 * Zoomed out, only some tasks have names: the current one, those that match, then those in progress, as far as their
 * names have room.
 */
export const FarLabels = memo(function FarLabels({
  items,
  spots,
  found,
  current,
}: {
  items: readonly Item[];
  spots: Places;
  found: ReadonlySet<string> | undefined;
  current: string | undefined;
}) {
  const scale = useFlow(({ transform }) => scaleOf(transform[2]));
  const labels = useMemo(
    () => chooseLabels(items, spots, { found, current, scale }),
    [items, spots, found, current, scale],
  );
  return (
    <ViewportPortal>
      {labels.map(({ item, x, y }) => (
        <div
          key={item.id}
          className={`far-label one-line${item.id === current ? ' current' : ''}`}
          style={{ transform: `translate(${x}px, ${y}px)` }}
          aria-hidden
        >
          {item.fold ? `${item.tasks.length} tasks` : showControls(item.tasks[0]?.task.title ?? '')}
        </div>
      ))}
    </ViewportPortal>
  );
});

interface Label {
  readonly item: Item;
  readonly x: number;
  readonly y: number;
}

function chooseLabels(
  items: readonly Item[],
  spots: Places,
  { found, current, scale }: { found: ReadonlySet<string> | undefined; current: string | undefined; scale: number },
): Label[] {
  const rank = (item: Item): number => {
    if (item.id === current) return 0;
    if (found) return item.tasks.some(({ id }) => found.has(id)) ? 1 : 9;
    if (item.phase === 'gate' || item.phase === 'failed') return 2;
    if (item.phase === 'in_progress') return 3;
    return 9;
  };
  const [width, height] = [WIDTH * scale, HEIGHT * scale];
  const taken = new Set<string>();
  const labels: Label[] = [];
  const wanted = items.map((item) => [rank(item), item] as const).filter(([one]) => one < 9);
  for (const [, item] of wanted.toSorted(([a], [b]) => a - b)) {
    const spot = spots[item.id];
    if (!spot || labels.length >= MOST) continue;
    // Centred below its box.
    const x = spot[0] + NODE_WIDTH / 2 - width / 2;
    const y = spot[1] + NODE_HEIGHT;
    // Two labels overlap only if they are in the same or in neighbouring cells of a grid.
    const [column, row] = [Math.floor(x / width), Math.floor(y / height)];
    const cells = [-1, 0, 1].flatMap((i) => [-1, 0, 1].map((j) => `${column + i} ${row + j}`));
    if (cells.some((cell) => taken.has(cell))) continue;
    taken.add(`${column} ${row}`);
    labels.push({ item, x, y });
  }
  return labels;
}

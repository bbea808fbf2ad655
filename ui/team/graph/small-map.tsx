import { Panel, useReactFlow, useStore as useFlow } from '@xyflow/react';
import { memo, useEffect, useMemo, useRef } from 'react';
import type { PointerEvent } from 'react';
import { shade } from '../../data/settings.ts';
import { useSignal } from '../../data/signal.ts';
import type { TaskPhase } from '../../data/task-view.ts';
import { NODE_HEIGHT, NODE_WIDTH } from './arrange.ts';
import type { Places } from './arrange.ts';
import type { Item } from './items.ts';

const WIDTH = 168;
const HEIGHT = 96;
const MARGIN = 6;
/** On a map, a node of less than this is invisible. */
const LEAST = 1.5;

const COLOURS: Readonly<Record<TaskPhase, string>> = {
  pending: '--pending-mark',
  blocked: '--line',
  in_progress: '--run-mark',
  gate: '--gate-mark',
  completed: '--done-mark',
  failed: '--fail-mark',
};

/** The whole graph, small, with the part that is in sight. A click or a drag moves there. */
export const SmallMap = memo(function SmallMap({
  items,
  spots,
  found,
}: {
  items: readonly Item[];
  spots: Places;
  found: ReadonlySet<string> | undefined;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { setViewport, getViewport } = useReactFlow();
  const view = useMemo(() => measure(Object.values(spots)), [spots]);
  const width = useFlow((flow) => flow.width);
  const height = useFlow((flow) => flow.height);
  const theme = useSignal(shade);
  useEffect(() => {
    if (canvas.current) draw(canvas.current, items, spots, { view, found });
  }, [items, spots, view, found, theme]);
  const go = (event: PointerEvent<HTMLDivElement>): void => {
    if (event.type === 'pointerdown') event.currentTarget.setPointerCapture(event.pointerId);
    else if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const box = event.currentTarget.getBoundingClientRect();
    const x = ((event.clientX - box.left) * (WIDTH / box.width) - view.x) / view.scale;
    const y = ((event.clientY - box.top) * (HEIGHT / box.height) - view.y) / view.scale;
    const { zoom } = getViewport();
    void setViewport({ zoom, x: width / 2 - x * zoom, y: height / 2 - y * zoom });
  };
  return (
    <Panel position="bottom-right" className="small-map">
      <div
        className="small-map-box nopan nowheel"
        role="img"
        aria-label="Map of the graph"
        title="Click or drag to go there"
        onPointerDown={go}
        onPointerMove={go}
      >
        <canvas ref={canvas} />
        <InSight view={view} />
      </div>
    </Panel>
  );
});

interface MapView {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

function measure(spots: readonly (readonly [number, number])[]): MapView {
  const right = Math.max(NODE_WIDTH, ...spots.map(([x]) => x + NODE_WIDTH));
  const bottom = Math.max(NODE_HEIGHT, ...spots.map(([, y]) => y + NODE_HEIGHT));
  const scale = Math.min((WIDTH - 2 * MARGIN) / right, (HEIGHT - 2 * MARGIN) / bottom);
  return { scale, x: (WIDTH - right * scale) / 2, y: (HEIGHT - bottom * scale) / 2 };
}

/** The frame moves by its style alone, because it moves with every frame of a drag. */
function InSight({ view: { scale, x, y } }: { view: MapView }) {
  const [left, top, zoom] = useFlow(({ transform }) => transform);
  const width = useFlow((flow) => flow.width);
  const height = useFlow((flow) => flow.height);
  const begin = Math.max(0, x - (left / zoom) * scale);
  const above = Math.max(0, y - (top / zoom) * scale);
  const end = Math.min(WIDTH, x + ((width - left) / zoom) * scale);
  const below = Math.min(HEIGHT, y + ((height - top) / zoom) * scale);
  return (
    <div
      className="in-sight"
      style={{
        left: `${(begin / WIDTH) * 100}%`,
        top: `${(above / HEIGHT) * 100}%`,
        width: `${(Math.max(4, end - begin) / WIDTH) * 100}%`,
        height: `${(Math.max(4, below - above) / HEIGHT) * 100}%`,
      }}
    />
  );
}

/** One canvas: an element for each of 1,000 tasks would cost more than the graph itself. */
function draw(
  canvas: HTMLCanvasElement,
  items: readonly Item[],
  spots: Places,
  { view: { scale, x, y }, found }: { view: MapView; found: ReadonlySet<string> | undefined },
): void {
  const dense = Math.max(1, devicePixelRatio);
  canvas.width = WIDTH * dense;
  canvas.height = HEIGHT * dense;
  const pen = canvas.getContext('2d');
  if (!pen) return;
  pen.scale(dense, dense);
  const style = getComputedStyle(canvas);
  const colours = Object.fromEntries(
    Object.entries(COLOURS).map(([phase, name]) => [phase, style.getPropertyValue(name)]),
  );
  const [wide, high] = [Math.max(LEAST, NODE_WIDTH * scale), Math.max(LEAST, NODE_HEIGHT * scale)];
  for (const item of items) {
    const spot = spots[item.id];
    if (!spot) continue;
    pen.globalAlpha = found && !item.tasks.some(({ id }) => found.has(id)) ? 0.2 : 1;
    pen.fillStyle = colours[item.phase] ?? '';
    pen.fillRect(x + spot[0] * scale, y + spot[1] * scale, wide, high);
  }
}

import { MiniMap, Panel, useReactFlow } from '@xyflow/react';
import type { Node } from '@xyflow/react';
import { Maximize, Minus, Plus } from 'lucide-react';
import { useCallback } from 'react';
import type { TaskView } from '../../data/task-view.ts';

/** The legend of the lines. */
export function Legend() {
  return (
    <Panel position="top-right" className="legend" aria-hidden>
      <span className="legend-critical">critical path</span>
      <span className="legend-met">met</span>
      <span className="legend-waits">waits for</span>
    </Panel>
  );
}

/** Zoom in, zoom out, show everything. */
export function ZoomButtons({ isLarge }: { isLarge: boolean }) {
  const { zoomIn, zoomOut, fitView } = useReactFlow();
  // Animated zooming out of a large graph would render hundreds of tasks in full for a moment.
  return (
    <Panel position="bottom-right" className="zoom">
      <button type="button" onClick={() => void zoomIn({ duration: 120 })} aria-label="Closer">
        <Plus size={16} aria-hidden />
      </button>
      <button type="button" onClick={() => void zoomOut({ duration: 120 })} aria-label="Farther">
        <Minus size={16} aria-hidden />
      </button>
      <button
        type="button"
        onClick={() => void fitView({ duration: isLarge ? 0 : 320, padding: 0.08 })}
        aria-label="The whole graph"
      >
        <Maximize size={16} aria-hidden />
      </button>
    </Panel>
  );
}

/** All tasks as small boxes, and the visible area. */
export function SmallMap({ byId }: { byId: ReadonlyMap<string, TaskView> }) {
  const nodeClassName = useCallback(({ id }: Node) => `map-node is-${byId.get(id)?.phase ?? 'blocked'}`, [byId]);
  return (
    <MiniMap
      className="small-map"
      nodeClassName={nodeClassName}
      position="bottom-right"
      pannable
      zoomable
      ariaLabel="Map of the graph"
    />
  );
}

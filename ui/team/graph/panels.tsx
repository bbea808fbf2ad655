import { Panel, useReactFlow } from '@xyflow/react';
import { Group, Maximize, Minus, Plus, Ungroup } from 'lucide-react';

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

/** Zoom in, zoom out, show everything; fold alike tasks or not. */
export function ZoomButtons({
  isLarge,
  fold,
  onFold,
}: {
  isLarge: boolean;
  /** Whether alike tasks are folded; undefined if there are none. */
  fold: boolean | undefined;
  onFold: () => void;
}) {
  const { zoomIn, zoomOut, fitView } = useReactFlow();
  // Animated zooming out of a large graph would render hundreds of tasks in full for a moment.
  return (
    <Panel position="bottom-right" className="zoom">
      {fold !== undefined && (
        <button
          type="button"
          onClick={onFold}
          aria-label={fold ? 'Unfold all alike tasks' : 'Fold alike tasks'}
          title={fold ? 'Unfold all alike tasks' : 'Fold alike tasks'}
        >
          {fold ? <Ungroup size={16} aria-hidden /> : <Group size={16} aria-hidden />}
        </button>
      )}
      <button type="button" onClick={() => void zoomIn({ duration: 120 })} aria-label="Zoom in" title="Zoom in (+)">
        <Plus size={16} aria-hidden />
      </button>
      <button type="button" onClick={() => void zoomOut({ duration: 120 })} aria-label="Zoom out" title="Zoom out (-)">
        <Minus size={16} aria-hidden />
      </button>
      <button
        type="button"
        onClick={() => void fitView({ duration: isLarge ? 0 : 320, padding: 0.08 })}
        aria-label="The whole graph"
        title="The whole graph (0)"
      >
        <Maximize size={16} aria-hidden />
      </button>
    </Panel>
  );
}

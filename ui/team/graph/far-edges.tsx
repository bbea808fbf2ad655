import { ViewportPortal } from '@xyflow/react';
import { memo, useMemo } from 'react';
import { NODE_HEIGHT, NODE_WIDTH } from './arrange.ts';
import type { Places } from './arrange.ts';
import type { Line } from './items.ts';

/** All edges as one path: as elements they are the larger part of the cost of a big graph. */
export const FarEdges = memo(function FarEdges({ lines, spots }: { lines: readonly Line[]; spots: Places }) {
  const path = useMemo(
    () =>
      lines
        .flatMap(({ from: source, to: target }) => {
          const from = spots[source];
          const to = spots[target];
          if (!from || !to) return [];
          return `M${from[0] + NODE_WIDTH} ${from[1] + NODE_HEIGHT / 2}L${to[0]} ${to[1] + NODE_HEIGHT / 2}`;
        })
        .join(''),
    [lines, spots],
  );
  return (
    <ViewportPortal>
      <svg className="far-edges" width={1} height={1} aria-hidden>
        <path d={path} />
      </svg>
    </ViewportPortal>
  );
});

import { ViewportPortal } from '@xyflow/react';
import { memo, useMemo } from 'react';
import type { TaskView } from '../../data/task-view.ts';
import { NODE_HEIGHT, NODE_WIDTH } from './arrange.ts';
import type { Places } from './arrange.ts';

/** All edges as one path: as elements they are the larger part of the cost of a big graph. */
export const FarEdges = memo(function FarEdges({ tasks, places }: { tasks: readonly TaskView[]; places: Places }) {
  const path = useMemo(
    () =>
      tasks
        .flatMap(({ id, task }) =>
          task.dependencies.flatMap((need) => {
            const from = places[need];
            const to = places[id];
            if (!from || !to) return [];
            return `M${from[0] + NODE_WIDTH} ${from[1] + NODE_HEIGHT / 2}L${to[0]} ${to[1] + NODE_HEIGHT / 2}`;
          }),
        )
        .join(''),
    [tasks, places],
  );
  return (
    <ViewportPortal>
      <svg className="far-edges" width={1} height={1} aria-hidden>
        <path d={path} />
      </svg>
    </ViewportPortal>
  );
});

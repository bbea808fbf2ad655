import { ReactFlow, ReactFlowProvider, useReactFlow, useStore as useFlow } from '@xyflow/react';
import type { Connection } from '@xyflow/react';
import { useCallback, useEffect, useLayoutEffect, useMemo, useState } from 'react';
import { call } from '../../data/daemon.ts';
import { navigate, teamPath, withQuery } from '../../data/route.ts';
import type { TaskView } from '../../data/task-view.ts';
import { useCanAct } from '../../data/use-can-act.ts';
import { useTeam } from '../../data/use-team.tsx';
import { act } from '../../parts/act.ts';
import type { Places } from './arrange.ts';
import { NO_EDGES, useEdges, useNodes } from './elements.ts';
import { FarEdges } from './far-edges.tsx';
import { firstSight } from './first-sight.ts';
import { describeTask, useKeyboard } from './keyboard.ts';
import { Legend, SmallMap, ZoomButtons } from './panels.tsx';
import { FarNode, MarksContext, TaskNode } from './task-node.tsx';
import { useLayout } from './use-layout.ts';
import '@xyflow/react/dist/base.css';
import './graph.css';

const NODE_TYPES = { task: TaskNode, far: FarNode };
const NO_TASKS: readonly TaskView[] = [];
const HIDE = { hideAttribution: true };
/** Below this zoom nothing is readable. Then boxes, and one path for all edges, are three times as fast. */
const FAR = 0.35;
/** With fewer tasks, a small map hides more than it shows. */
const SMALL = 30;
/** With more tasks, a small map is no longer useful. */
const MAPPED = 300;

interface GraphProps {
  readonly teamId: string;
  /** The task that is open beside the graph. */
  readonly taskId: string | undefined;
  readonly found: readonly TaskView[] | undefined;
}

/** The tasks as a graph: dependencies, current work, and the critical path. */
export function Graph(props: GraphProps) {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  );
}

function Canvas({ teamId, taskId, found }: GraphProps) {
  const tasks = useTeam(({ view }) => view.tasks);
  const byId = useTeam(({ view }) => view.byId);
  const places = useLayout();
  const isFar = useFlow(({ transform }) => transform[2] < FAR);
  const canDraw = useCanAct();
  const isSighted = useFirstSight(tasks, places);
  const shown = isSighted ? tasks : NO_TASKS;
  const nodes = useNodes(shown, places, isFar);
  const edges = useEdges(shown, places, isFar);
  const { current, setCurrent, onKeyDown } = useKeyboard(teamId, byId, places);
  // The opened task is marked, however it was opened, and the keyboard continues from it.
  useEffect(() => {
    if (taskId !== undefined) setCurrent(taskId);
  }, [taskId]);
  const isLarge = nodes.length > MAPPED;
  const hasEdges = tasks.some(({ task }) => task.dependencies.length > 0);
  const marks = useMemo(
    () => ({ found: found && new Set(found.map(({ id }) => id)), current, canDraw }),
    [found, current, canDraw],
  );
  const open = useCallback((id: string) => navigate(withQuery(teamPath(teamId, `/task/${id}`))), [teamId]);
  const connect = ({ source, target }: Connection): void =>
    void act(
      () => call('task.depend', { teamId, taskId: target, dependencies: [source] }),
      `#${target} now waits for #${source}`,
    );
  const currentView = current === undefined ? undefined : byId.get(current);
  return (
    <div
      className={`graph${isLarge ? ' is-large' : ''}`}
      role="group"
      tabIndex={0}
      aria-label="Task graph. Arrow keys follow dependencies, Enter opens a task. The list view has the same tasks as rows."
      onKeyDown={onKeyDown}
      data-nodes={nodes.length}
      data-edges={isFar ? undefined : edges.length}
    >
      <MarksContext value={marks}>
        <ReactFlow
          nodes={nodes}
          edges={isFar ? NO_EDGES : edges}
          nodeTypes={NODE_TYPES}
          onNodeClick={(_event, { id }) => {
            setCurrent(id);
            open(id);
          }}
          onConnect={connect}
          isValidConnection={({ source, target }) => source !== target}
          onlyRenderVisibleElements
          nodesDraggable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          nodesConnectable={canDraw}
          minZoom={0.05}
          maxZoom={1.6}
          proOptions={HIDE}
          deleteKeyCode={null}
        >
          {isFar && <FarEdges tasks={tasks} places={places} />}
          {hasEdges && <Legend />}
          <ZoomButtons isLarge={isLarge} />
          {nodes.length > SMALL && !isLarge && <SmallMap byId={byId} />}
        </ReactFlow>
      </MarksContext>
      <span className="hidden" aria-live="polite">
        {currentView && describeTask(currentView)}
      </span>
    </div>
  );
}

/**
 * Sets the viewport before anything is drawn. A graph that is drawn first and then moved jumps, and one of unknown size
 * is drawn completely.
 */
function useFirstSight(tasks: readonly TaskView[], places: Places): boolean {
  const { setViewport } = useReactFlow();
  const [isDone, setDone] = useState(false);
  const width = useFlow((flow) => flow.width);
  const height = useFlow((flow) => flow.height);
  const canMove = useFlow(({ panZoom }) => panZoom !== null) && width > 0 && height > 0;
  const isPlaced = tasks.some(({ id }) => places[id]);
  useLayoutEffect(() => {
    if (isDone || !canMove || !isPlaced) return;
    void setViewport(firstSight(tasks, places, { width, height }));
    setDone(true);
  }, [canMove, isPlaced]);
  return isDone;
}

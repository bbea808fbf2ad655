import { ReactFlow, ReactFlowProvider, useReactFlow, useStore as useFlow } from '@xyflow/react';
import type { Connection } from '@xyflow/react';
import { useCallback, useEffect, useLayoutEffect, useMemo, useState } from 'react';
import type { CSSProperties } from 'react';
import { call } from '../../data/daemon.ts';
import { navigate, teamPath, useQuery, withQuery } from '../../data/route.ts';
import type { TaskView } from '../../data/task-view.ts';
import { useCanAct } from '../../data/use-can-act.ts';
import { useTeam } from '../../data/use-team.tsx';
import { act } from '../../parts/act.ts';
import { NO_EDGES, useEdges, useNodes } from './elements.ts';
import { FarEdges } from './far-edges.tsx';
import { FarLabels } from './far-labels.tsx';
import { firstSight } from './first-sight.ts';
import type { Item } from './items.ts';
import { describeItem, useKeyboard } from './keyboard.ts';
import { levelOf, scaleOf } from './levels.ts';
import { Legend, ZoomButtons } from './panels.tsx';
import { SmallMap } from './small-map.tsx';
import { FarFold, FarNode, FoldNode, MarksContext, TaskNode } from './task-node.tsx';
import { useFit, useHold } from './use-fit.ts';
import { useItems } from './use-items.ts';
import type { Drawing } from './use-items.ts';
import '@xyflow/react/dist/base.css';
import './graph.css';

const NODE_TYPES = { task: TaskNode, far: FarNode, fold: FoldNode, 'far-fold': FarFold };
const NO_ITEMS: readonly Item[] = [];
const HIDE = { hideAttribution: true };
/** With fewer nodes, a small map hides more than it shows. */
const SMALL = 30;
/** With more nodes, shadows, dashes and animations are left out. */
const LARGE = 300;

interface GraphProps {
  readonly teamId: string;
  /** The task that is open beside the graph. */
  readonly taskId: string | undefined;
  readonly found: readonly TaskView[] | undefined;
  /** Changes with the filter, not with the tasks that match. */
  readonly filterKey: string;
}

/** The tasks as a graph: dependencies, current work, and the critical path. */
export function Graph(props: GraphProps) {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  );
}

function Canvas({ teamId, taskId, found, filterKey }: GraphProps) {
  const tasks = useTeam(({ view }) => view.tasks);
  const [query, setQuery] = useQuery();
  const isFolding = query.get('fold') !== 'none';
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const drawing = useItems(open, taskId, isFolding);
  const { lines, spots, itemOf } = drawing;
  const level = useFlow(({ transform }) => levelOf(transform[2]));
  const scale = useFlow(({ transform }) => scaleOf(transform[2]));
  const isFar = level === 'far';
  const canDraw = useCanAct();
  const isSighted = useFirstSight(tasks, drawing);
  const items = isSighted ? drawing.items : NO_ITEMS;
  const nodes = useNodes(items, spots, isFar);
  const edges = useEdges(lines, isFar || !isSighted);
  const hold = useHold(drawing);
  const toggle = (id: string): void => {
    hold(id);
    setOpen((all) => {
      const next = new Set(all);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  };
  const openTask = useCallback((id: string) => navigate(withQuery(teamPath(teamId, `/task/${id}`))), [teamId]);
  const { current, setCurrent, onKeyDown } = useKeyboard(drawing, { openTask, toggle });
  const isLarge = nodes.length > LARGE;
  useFit({ drawing, found, filterKey, taskId, isSighted, isLarge });
  // The opened task is marked, however it was opened, and the keyboard continues from it.
  useEffect(() => {
    if (taskId !== undefined) setCurrent(taskId);
  }, [taskId]);
  const hasEdges = lines.length > 0;
  const hasFolds = drawing.items.some(({ fold }) => fold !== undefined);
  const marks = useMemo(
    () => ({ found: found && new Set(found.map(({ id }) => id)), current, canDraw }),
    [found, current, canDraw],
  );
  const connect = ({ source, target }: Connection): void =>
    void act(
      () => call('task.depend', { teamId, taskId: target, dependencies: [source] }),
      `#${target} now waits for #${source}`,
    );
  const shownItem = current === undefined ? undefined : drawing.items.find(({ id }) => id === current);
  return (
    <div
      className={`graph at-${level}${isLarge ? ' is-large' : ''}`}
      style={{ '--k': scale } as CSSProperties}
      role="group"
      tabIndex={0}
      aria-label="Task graph. Arrow keys follow dependencies, Enter opens a task or unfolds alike ones, + and - zoom. The list view has the same tasks as rows."
      onKeyDown={onKeyDown}
      data-nodes={nodes.length}
      data-edges={isFar ? undefined : edges.length}
    >
      <MarksContext value={marks}>
        <ReactFlow
          nodes={nodes}
          edges={isFar ? NO_EDGES : edges}
          nodeTypes={NODE_TYPES}
          onNodeClick={(_event, { id, data }) => {
            setCurrent(id);
            if (data.item) toggle(id);
            else openTask(id);
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
          {isFar && <FarEdges lines={lines} spots={spots} />}
          {isFar && <FarLabels items={items} spots={spots} found={marks.found} current={current} />}
          {hasEdges && <Legend />}
          <ZoomButtons
            isLarge={isLarge}
            fold={hasFolds || !isFolding ? isFolding : undefined}
            onFold={() => setQuery({ fold: isFolding ? 'none' : undefined })}
          />
          {nodes.length > SMALL && <SmallMap items={items} spots={spots} found={marks.found} />}
        </ReactFlow>
      </MarksContext>
      <span className="hidden" aria-live="polite">
        {shownItem ? describeItem(shownItem) : current !== undefined && itemOf.has(current) && `#${current}`}
      </span>
    </div>
  );
}

/**
 * Sets the viewport before anything is drawn. A graph that is drawn first and then moved jumps, and one of unknown size
 * is drawn completely.
 */
function useFirstSight(tasks: readonly TaskView[], { itemOf, spots }: Drawing): boolean {
  const { setViewport } = useReactFlow();
  const [isDone, setDone] = useState(false);
  const width = useFlow((flow) => flow.width);
  const height = useFlow((flow) => flow.height);
  const canMove = useFlow(({ panZoom }) => panZoom !== null) && width > 0 && height > 0;
  const isPlaced = Object.keys(spots).length > 0;
  useLayoutEffect(() => {
    if (isDone || !canMove || !isPlaced) return;
    const places = Object.fromEntries(
      tasks.flatMap(({ id }) => {
        const spot = spots[itemOf.get(id)?.id ?? ''];
        return spot ? [[id, spot] as const] : [];
      }),
    );
    void setViewport(firstSight(tasks, places, { width, height }));
    setDone(true);
  }, [canMove, isPlaced]);
  return isDone;
}

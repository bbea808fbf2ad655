import {
  MarkerType,
  MiniMap,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore as useFlow,
  ViewportPortal,
} from '@xyflow/react';
import type { Connection, Edge, Node } from '@xyflow/react';
import { Maximize, Minus, Plus } from 'lucide-react';
import { memo, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { call } from '../../data/daemon.ts';
import { navigate, teamPath, withQuery } from '../../data/route.ts';
import type { TaskView } from '../../data/task-view.ts';
import { useCanAct } from '../../data/use-can-act.ts';
import { useTeam } from '../../data/use-team.tsx';
import { act } from '../../parts/act.ts';
import { PHASE_WORDS } from '../../parts/status.tsx';
import { NODE_HEIGHT, NODE_WIDTH } from './arrange.ts';
import type { Places } from './arrange.ts';
import { FarNode, MarksContext, TaskNode } from './task-node.tsx';
import { useLayout } from './use-layout.ts';
import '@xyflow/react/dist/base.css';
import './graph.css';

const NODE_TYPES = { task: TaskNode, far: FarNode };
/** Below it nothing can be read: then boxes and one path for all edges are three times as fast. */
const FAR = 0.35;
/** A small map of more is neither small nor a map. */
const MAPPED = 300;

/** The tasks as a graph: what waits for what, what happens now, which chain is the longest. */
export function Graph({ teamId, found }: { teamId: string; found: readonly TaskView[] | undefined }) {
  return (
    <ReactFlowProvider>
      <Canvas teamId={teamId} found={found} />
    </ReactFlowProvider>
  );
}

function Canvas({ teamId, found }: { teamId: string; found: readonly TaskView[] | undefined }) {
  const tasks = useTeam(({ view }) => view.tasks);
  const byId = useTeam(({ view }) => view.byId);
  const places = useLayout();
  const isFar = useFlow(({ transform }) => transform[2] < FAR);
  const canDraw = useCanAct();
  const nodes = useNodes(tasks, places, isFar);
  const edges = useEdges(tasks, places, isFar);
  const { current, setCurrent, onKeyDown } = useKeyboard(teamId, byId, places);
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
      className="graph"
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
          edges={isFar ? NONE : edges}
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
          <Legend />
          <Buttons isLarge={nodes.length > MAPPED} />
          {nodes.length > 12 && nodes.length <= MAPPED && <SmallMap byId={byId} />}
        </ReactFlow>
      </MarksContext>
      <FirstSight tasks={tasks} places={places} />
      <span className="hidden" aria-live="polite">
        {currentView && describe(currentView)}
      </span>
    </div>
  );
}

const NONE: Edge[] = [];
const HIDE = { hideAttribution: true };

function useNodes(tasks: readonly TaskView[], places: Places, isFar: boolean): Node[] {
  const ids = useMemo(() => tasks.map(({ id }) => id), [tasks]);
  const key = ids.join();
  // A status changes no node: they hold their id alone.
  return useMemo(
    () =>
      ids.flatMap((id): Node[] => {
        const place = places[id];
        if (!place) return [];
        return [
          {
            id,
            type: isFar ? 'far' : 'task',
            position: { x: place[0], y: place[1] },
            width: NODE_WIDTH,
            height: NODE_HEIGHT,
            data: {},
          },
        ];
      }),
    // `key` stands for the ids.
    [key, places, isFar],
  );
}

const MARKER = { type: MarkerType.ArrowClosed, width: 11, height: 11, markerUnits: 'userSpaceOnUse' } as const;

/** Edges that have not changed stay the same objects. */
function useEdges(tasks: readonly TaskView[], places: Places, isFar: boolean): Edge[] {
  const critical = useTeam(({ view }) => view.critical.ids);
  const cache = useRef(new Map<string, Edge>());
  return useMemo(() => {
    if (isFar) return NONE;
    const phases = new Map(tasks.map(({ id, phase }) => [id, phase]));
    const next = new Map<string, Edge>();
    for (const { id, task } of tasks) {
      for (const need of task.dependencies) {
        if (!phases.has(need) || !places[need] || !places[id]) continue;
        const isMet = phases.get(need) === 'completed';
        const isCritical = critical.has(id) && critical.has(need);
        const className = `edge ${isMet ? 'met' : 'waits'}${isCritical ? ' critical' : ''}`;
        const key = `${need}-${id}`;
        const before = cache.current.get(key);
        next.set(
          key,
          before?.className === className
            ? before
            : { id: key, source: need, target: id, className, markerEnd: MARKER, focusable: false },
        );
      }
    }
    cache.current = next;
    return [...next.values()];
  }, [tasks, places, isFar, critical]);
}

/** All edges as one path: as elements they are the larger part of what a big graph costs. */
const FarEdges = memo(function FarEdges({ tasks, places }: { tasks: readonly TaskView[]; places: Places }) {
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

function Legend() {
  return (
    <Panel position="top-right" className="legend" aria-hidden>
      <span className="legend-critical">critical path</span>
      <span className="legend-met">met</span>
      <span className="legend-waits">waits for</span>
    </Panel>
  );
}

function Buttons({ isLarge }: { isLarge: boolean }) {
  const { zoomIn, zoomOut, fitView } = useReactFlow();
  // On the way out of a large graph hundreds of tasks would be drawn in full, for a moment each.
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

function SmallMap({ byId }: { byId: ReadonlyMap<string, TaskView> }) {
  const nodeClassName = useCallback(({ id }: Node) => `map-node is-${byId.get(id)?.phase ?? 'blocked'}`, [byId]);
  return (
    <MiniMap
      className="small-map"
      nodeClassName={nodeClassName}
      position="bottom-left"
      pannable
      zoomable
      ariaLabel="Map of the graph"
    />
  );
}

/** At first one sees where work happens: everything if that can be read, else what is being worked on. */
function FirstSight({ tasks, places }: { tasks: readonly TaskView[]; places: Places }) {
  const { fitView } = useReactFlow();
  const hasSize = useFlow(({ width, height }) => width > 0 && height > 0);
  const width = useFlow((flow) => flow.width);
  const height = useFlow((flow) => flow.height);
  const isDone = useRef(false);
  const placed = Object.keys(places).length;
  useEffect(() => {
    if (isDone.current || placed === 0 || !hasSize) return;
    isDone.current = true;
    const shown = tasks.filter(({ id }) => places[id]);
    const right = Math.max(...shown.map(({ id }) => (places[id]?.[0] ?? 0) + NODE_WIDTH));
    const bottom = Math.max(...shown.map(({ id }) => (places[id]?.[1] ?? 0) + NODE_HEIGHT));
    const isReadable = Math.min(width / right, height / bottom) > 0.62;
    const front = shown.filter(({ phase }) => phase === 'in_progress' || phase === 'gate');
    const next = front.length > 0 ? front : shown.filter(({ phase }) => phase === 'pending' || phase === 'failed');
    const nodes = isReadable || next.length === 0 ? shown : next.slice(0, 40);
    void fitView({
      nodes: nodes.map(({ id }) => ({ id })),
      padding: 0.12,
      maxZoom: 1,
      minZoom: isReadable ? 0.5 : 0.62,
    });
  }, [placed, hasSize]);
  return null;
}

/** One stop for Tab; arrows go along the dependencies, or up and down in the column. */
function useKeyboard(teamId: string, byId: ReadonlyMap<string, TaskView>, places: Places) {
  const [current, setCurrent] = useState<string>();
  const { setCenter, getZoom } = useReactFlow();
  const go = (id: string | undefined): void => {
    const place = id === undefined ? undefined : places[id];
    if (id === undefined || !place) return;
    setCurrent(id);
    const zoom = Math.max(getZoom(), 0.7);
    void setCenter(place[0] + NODE_WIDTH / 2, place[1] + NODE_HEIGHT / 2, { zoom, duration: 200 });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const view = byId.get(current ?? '');
    const key = event.key;
    if (!['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Enter', 'Home'].includes(key)) return;
    event.preventDefault();
    if (!view || key === 'Home') go(firstOf(byId, places));
    else if (key === 'Enter') navigate(withQuery(teamPath(teamId, `/task/${view.id}`)));
    else if (key === 'ArrowLeft') go(nearest(view.id, view.task.dependencies, places));
    else if (key === 'ArrowRight') go(nearest(view.id, view.task.blocks, places));
    else go(inColumn(view.id, key === 'ArrowDown' ? 1 : -1, byId, places));
  };
  return { current, setCurrent, onKeyDown };
}

function firstOf(byId: ReadonlyMap<string, TaskView>, places: Places): string | undefined {
  const all = [...byId.values()].filter(({ id }) => places[id]);
  return (all.find(({ phase }) => phase === 'in_progress' || phase === 'gate') ?? all[0])?.id;
}

function nearest(id: string, others: readonly string[], places: Places): string | undefined {
  const y = places[id]?.[1] ?? 0;
  return others
    .filter((other) => places[other])
    .toSorted((a, b) => Math.abs((places[a]?.[1] ?? 0) - y) - Math.abs((places[b]?.[1] ?? 0) - y))[0];
}

function inColumn(id: string, step: 1 | -1, byId: ReadonlyMap<string, TaskView>, places: Places): string | undefined {
  const [x = 0, y = 0] = places[id] ?? [];
  return [...byId.keys()]
    .filter((other) => {
      const place = places[other];
      return place && Math.abs(place[0] - x) < NODE_WIDTH / 2 && (place[1] - y) * step > 0;
    })
    .toSorted((a, b) => ((places[a]?.[1] ?? 0) - (places[b]?.[1] ?? 0)) * step)[0];
}

function describe({ id, task, phase }: TaskView): string {
  const holder = task.assigneeId ? `, ${task.assigneeId}` : '';
  return `#${id} ${task.title}, ${PHASE_WORDS[phase]}${holder}, needs ${task.dependencies.length}, unblocks ${task.blocks.length}`;
}

import { Handle, Position } from '@xyflow/react';
import { createContext, memo, use } from 'react';
import type { TaskView } from '../../data/task-view.ts';
import { useTeam } from '../../data/use-team.tsx';
import { showControls } from '../../parts/controls.ts';
import { useJustChanged } from '../../parts/just-changed.ts';
import { PHASE_WORDS, PhaseIcon } from '../../parts/status.tsx';
import { Holder, Since } from '../task-facts.tsx';

/** What nodes need to know about the graph besides their task. */
export interface Marks {
  readonly found: ReadonlySet<string> | undefined;
  readonly current: string | undefined;
  readonly canDraw: boolean;
}

export const MarksContext = createContext<Marks>({ found: undefined, current: undefined, canDraw: false });

/** A task in the graph. It holds only its id, and renders again when that task changes. */
export const TaskNode = memo(function TaskNode({ id }: { id: string }) {
  const view = useTeam(({ view }) => view.byId.get(id));
  const isCritical = useTeam(({ view }) => view.critical.ids.has(id));
  const { found, current, canDraw } = use(MarksContext);
  const isNew = useJustChanged(view?.phase);
  if (!view) return null;
  const name = isNew ? 'node just' : 'node';
  return (
    <div className={classOf(name, view, { isCritical, isDim: found && !found.has(id), isCurrent: current === id })}>
      <Handle type="target" position={Position.Left} isConnectable={canDraw} />
      <PhaseIcon phase={view.phase} size={16} />
      <div className="node-body">
        <div className="node-title two-lines">{showControls(view.task.title)}</div>
        <div className="node-foot">
          <span className="mono">#{id}</span>
          <span className="one-line">{PHASE_WORDS[view.phase]}</span>
          <span className="node-since">
            <Since view={view} dot />
          </span>
          <Holder id={view.task.assigneeId} />
        </div>
      </div>
      <Handle type="source" position={Position.Right} isConnectable={canDraw} />
    </div>
  );
});

/** When zoomed out, a task is a coloured box: text is unreadable, and handles cost more than everything else. */
export const FarNode = memo(function FarNode({ id }: { id: string }) {
  const view = useTeam(({ view }) => view.byId.get(id));
  const isCritical = useTeam(({ view }) => view.critical.ids.has(id));
  const { found, current } = use(MarksContext);
  if (!view) return null;
  return (
    <div
      className={classOf('node far', view, { isCritical, isDim: found && !found.has(id), isCurrent: current === id })}
    />
  );
});

function classOf(
  name: string,
  { phase }: TaskView,
  marks: { isCritical: boolean; isDim: boolean | undefined; isCurrent: boolean },
): string {
  const { isCritical, isDim, isCurrent } = marks;
  return `${name} is-${phase}${isCritical ? ' critical' : ''}${isDim ? ' dim' : ''}${isCurrent ? ' current' : ''}`;
}

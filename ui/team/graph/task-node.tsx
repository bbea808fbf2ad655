import { Handle, Position } from '@xyflow/react';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { createContext, memo, use } from 'react';
import type { TaskView } from '../../data/task-view.ts';
import { useTeam } from '../../data/use-team.tsx';
import { showControls } from '../../parts/controls.ts';
import { plural } from '../../parts/format.ts';
import { useJustChanged } from '../../parts/just-changed.ts';
import { PHASE_WORDS, PhaseIcon } from '../../parts/status.tsx';
import { Holder, Since } from '../task-facts.tsx';
import type { Item } from './items.ts';

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
  const title = showControls(view.task.title);
  return (
    <div
      className={classOf(name, view, { isCritical, isDim: found && !found.has(id), isCurrent: current === id })}
      title={`#${id} ${title}`}
    >
      <Handle type="target" position={Position.Left} isConnectable={canDraw} />
      <PhaseIcon phase={view.phase} size={16} />
      <div className="node-body">
        <div className="node-title two-lines">{title}</div>
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

interface FoldProps {
  readonly id: string;
  readonly data: { readonly item?: Item };
}

/** Several alike tasks as one node; a click shows them one by one, or folds them again. */
export const FoldNode = memo(function FoldNode({ id, data: { item } }: FoldProps) {
  const { isCritical, isDim, fits } = useFold(item);
  const { current } = use(MarksContext);
  if (!item) return null;
  const isOpen = item.fold === 'open';
  const Icon = isOpen ? ChevronDown : ChevronRight;
  const titles = item.tasks.slice(0, 12).map(({ id, task }) => `#${id} ${showControls(task.title)}`);
  return (
    <div
      className={classOf('node fold', item, { isCritical, isDim, isCurrent: current === id })}
      title={`${titles.join('\n')}${item.tasks.length > titles.length ? '\n…' : ''}`}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <PhaseIcon phase={item.phase} size={16} />
      <div className="node-body">
        <div className="node-title one-line">{plural(item.tasks.length, 'task')}</div>
        <div className="node-foot">
          <span className="one-line">{fits ?? PHASE_WORDS[item.phase]}</span>
          <span className="node-since">· {isOpen ? 'fold' : 'unfold'}</span>
        </div>
      </div>
      <Icon size={16} aria-hidden />
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});

/** The same when zoomed out. */
export const FarFold = memo(function FarFold({ id, data: { item } }: FoldProps) {
  const { isCritical, isDim } = useFold(item);
  const { current } = use(MarksContext);
  if (!item) return null;
  return <div className={classOf('node far fold', item, { isCritical, isDim, isCurrent: current === id })} />;
});

function useFold(item: Item | undefined) {
  const critical = useTeam(({ view }) => view.critical.ids);
  const { found } = use(MarksContext);
  const tasks = item?.tasks ?? [];
  const matching = found ? tasks.filter(({ id }) => found.has(id)).length : tasks.length;
  return {
    isCritical: tasks.some(({ id }) => critical.has(id)),
    isDim: matching === 0,
    fits: found && matching > 0 ? `${matching} ${matching === 1 ? 'fits' : 'fit'}` : undefined,
  };
}

function classOf(
  name: string,
  { phase }: Pick<TaskView, 'phase'>,
  marks: { isCritical: boolean; isDim: boolean | undefined; isCurrent: boolean },
): string {
  const { isCritical, isDim, isCurrent } = marks;
  return `${name} is-${phase}${isCritical ? ' critical' : ''}${isDim ? ' dim' : ''}${isCurrent ? ' current' : ''}`;
}

import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { navigate, teamPath, withQuery } from '../data/route.ts';
import { useSignal } from '../data/signal.ts';
import type { TaskView } from '../data/task-view.ts';
import { TASK_PHASES } from '../data/task-view.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { showControls } from '../parts/controls.ts';
import { showAgo } from '../parts/format.ts';
import { useJustChanged } from '../parts/just-changed.ts';
import { Link } from '../parts/link.tsx';
import { useNarrow } from '../parts/narrow.ts';
import { PhaseStatus } from '../parts/status.tsx';
import { record } from '../record/head.ts';
import { choose, chosen, toggleChosen, useIsChosen } from './bulk/chosen.ts';
import { Pick } from './bulk/pick.tsx';
import { PriorityMark } from './priority-mark.tsx';
import { Holder, Since } from './task-facts.tsx';

const ROW = 40;
/** If there is no space for a column of members, they are below the titles. */
const NARROW_ROW = 60;

type Order = 'status' | 'id' | 'title' | 'member' | 'changed';

const COMPARE: Readonly<Record<Order, (a: TaskView, b: TaskView) => number>> = {
  status: (a, b) => RANK.indexOf(a.phase) - RANK.indexOf(b.phase) || byId(a, b),
  id: byId,
  title: (a, b) => a.task.title.localeCompare(b.task.title),
  member: (a, b) => (a.task.assigneeId ?? '~').localeCompare(b.task.assigneeId ?? '~') || byId(a, b),
  changed: (a, b) => b.task.updatedAt.getTime() - a.task.updatedAt.getTime(),
};
const RANK = ['gate', 'failed', 'in_progress', ...TASK_PHASES];

function byId(a: TaskView, b: TaskView): number {
  return Number(a.id) - Number(b.id);
}

/** The tasks as rows: everything that the graph shows, for those who prefer lines, and for touch and screen readers. */
export function TaskList({ teamId, tasks }: { teamId: string; tasks: readonly TaskView[] }) {
  const [order, setOrder] = useState<Order>('status');
  const box = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => tasks.toSorted(COMPARE[order]), [tasks, order]);
  const height = useNarrow() ? NARROW_ROW : ROW;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    overscan: 6,
    getItemKey: (i) => rows[i]?.id ?? i,
  });
  useEffect(() => virtual.measure(), [height]);
  const [current, setCurrent] = useState(0);
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 15,
      PageUp: -15,
      Home: -Infinity,
      End: Infinity,
      j: 1,
      k: -1,
    };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next = Math.max(0, Math.min(rows.length - 1, current + step));
      setCurrent(next);
      virtual.scrollToIndex(next);
      requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-index="${next}"] a`)?.focus());
    } else if (event.key === 'x' && rows[current]) {
      event.preventDefault();
      toggleChosen(rows[current].id);
    } else if (event.key === 'Enter' && event.target === event.currentTarget && rows[current]) {
      navigate(withQuery(teamPath(teamId, `/task/${rows[current].id}`)));
    }
  };
  // With Shift, all rows from the last one that was picked.
  const lastPicked = useRef<number>(undefined);
  const pick = (index: number, isChosen: boolean, isRange: boolean): void => {
    const from = isRange ? (lastPicked.current ?? index) : index;
    const part = rows.slice(Math.min(from, index), Math.max(from, index) + 1);
    choose(
      part.map(({ id }) => id),
      isChosen,
    );
    lastPicked.current = index;
  };
  const head = (name: Order, label: string, className = ''): ReactNode => (
    <span role="columnheader" className={className} aria-sort={order === name ? 'ascending' : 'none'}>
      <button type="button" onClick={() => setOrder(name)}>
        {label}
        {order === name && <span aria-hidden> ↓</span>}
      </button>
    </span>
  );
  return (
    <div className="list" role="table" aria-label="Tasks" aria-rowcount={rows.length + 1}>
      <div className="list-row list-head" role="row">
        {record ? <div role="columnheader" className="list-pick" /> : <PickAll rows={rows} />}
        {head('id', 'Id')}
        {head('status', 'Status', 'list-status')}
        {head('title', 'Title')}
        {head('member', 'Member', 'list-member')}
        <span role="columnheader" className="wide list-needs">
          Needs
        </span>
        {head('changed', 'Changed', 'wide')}
      </div>
      <div className="list-body" ref={box} tabIndex={0} onKeyDown={onKeyDown} role="rowgroup">
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }} role="presentation">
          {virtual.getVirtualItems().map(({ index, key, start }) => (
            <Row
              key={key}
              teamId={teamId}
              index={index}
              top={start}
              height={height}
              view={rows[index] as TaskView}
              onPick={pick}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function Row({
  teamId,
  index,
  top,
  height,
  view,
  onPick,
}: {
  teamId: string;
  index: number;
  top: number;
  height: number;
  view: TaskView;
  onPick: (index: number, isChosen: boolean, isRange: boolean) => void;
}) {
  const { task, phase } = view;
  const isChosen = useIsChosen(task.id);
  const href = withQuery(teamPath(teamId, `/task/${task.id}`));
  const isNew = useJustChanged(phase);
  return (
    <div
      className={`list-row is-${phase}${isNew ? ' just' : ''}${isChosen ? ' is-chosen' : ''}`}
      role="row"
      data-index={index}
      aria-rowindex={index + 2}
      style={{ position: 'absolute', top: 0, left: 0, right: 0, height, transform: `translateY(${top}px)` }}
      onClick={() => navigate(href)}
    >
      <div role="cell" className="list-pick">
        {!record && <Pick id={task.id} isChosen={isChosen} onPick={(isOn, isRange) => onPick(index, isOn, isRange)} />}
      </div>
      <span role="cell" className="mono quiet">
        #{task.id}
      </span>
      <span role="cell" className="list-status">
        <PhaseStatus phase={phase} />
        <span className="meta list-since">
          <Since view={view} dot={height === ROW} />
        </span>
      </span>
      <span role="cell" className="list-title">
        <Link href={href} className="one-line" tabIndex={-1} onClick={(event) => event.stopPropagation()}>
          {showControls(task.title)}
        </Link>
        <PriorityMark priority={task.priority} />
      </span>
      <span role="cell" className="list-member">
        <Holder id={task.assigneeId} />
      </span>
      <span role="cell" className="wide quiet one-line mono list-needs">
        {task.dependencies.map((id) => `#${id}`).join(' ')}
      </span>
      <span role="cell" className="wide quiet list-changed">
        <Ago at={task.updatedAt.getTime()} />
      </span>
    </div>
  );
}

/** Chooses all rows that the filter left, or none. */
function PickAll({ rows }: { rows: readonly TaskView[] }) {
  const all = useSignal(chosen);
  const count = rows.reduce((sum, { id }) => sum + Number(all.has(id)), 0);
  const isAll = count > 0 && count === rows.length;
  return (
    <div role="columnheader" className="list-pick">
      <label className="pick">
        <input
          type="checkbox"
          checked={isAll}
          ref={(box) => {
            if (box) box.indeterminate = count > 0 && !isAll;
          }}
          aria-label="Choose all tasks"
          onChange={() =>
            choose(
              rows.map(({ id }) => id),
              !isAll,
            )
          }
        />
      </label>
    </div>
  );
}

function Ago({ at }: { at: number }) {
  return <>{showAgo(at, useTeamNow())}</>;
}

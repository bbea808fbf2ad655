import { CircleCheck, Pencil, Plus, RotateCcw, Trash2, Undo2, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { call } from '../data/daemon.ts';
import { navigate, teamPath, withQuery } from '../data/route.ts';
import type { TaskView } from '../data/task-view.ts';
import { useCanAct } from '../data/use-can-act.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { useStore, useTeam } from '../data/use-team.tsx';
import { EditTask } from '../forms/edit-task.tsx';
import { act } from '../parts/act.ts';
import { showCost, showCount, showMoment, showSpan, showTime, tokensOf } from '../parts/format.ts';
import { useKeys } from '../parts/keys.ts';
import { Link } from '../parts/link.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { PhaseIcon, PhaseStatus } from '../parts/status.tsx';
import { describeEvent } from './event-text.ts';

const PRIORITIES = ['low', 'medium', 'high', 'critical'] as const;

/** One task, over whichever view it was opened from. */
export function TaskSheet({ teamId, taskId }: { teamId: string; taskId: string }) {
  const view = useTeam(({ view }) => view.byId.get(taskId));
  const sheet = useRef<HTMLElement>(null);
  const close = (): void => navigate(withQuery(teamPath(teamId)));
  // Also when the focus was on something that is gone.
  useKeys({ Escape: close });
  useEffect(() => {
    const before = document.activeElement;
    sheet.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <aside
      ref={sheet}
      className="sheet"
      role="dialog"
      data-sheet
      aria-label={view ? `Task ${taskId}: ${view.task.title}` : `Task ${taskId}`}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        close();
      }}
    >
      <header className="sheet-head">
        <span className="mono quiet">T-{taskId}</span>
        {view && <PhaseStatus phase={view.phase} pill />}
        <span className="spacer" />
        <button type="button" className="button ghost icon" onClick={close} aria-label="Close">
          <X size={18} aria-hidden />
        </button>
      </header>
      {view ? <Body key={taskId} teamId={teamId} view={view} /> : <Gone teamId={teamId} taskId={taskId} />}
    </aside>
  );
}

function Gone({ teamId, taskId }: { teamId: string; taskId: string }) {
  const isDeleted = useTeam(({ state }) => state.tasks.get(taskId)?.status === 'deleted');
  const canAct = useCanAct();
  return (
    <div className="empty">
      <h2>{isDeleted ? 'This task was deleted' : 'There is no such task at this moment'}</h2>
      {isDeleted && (
        <button
          type="button"
          className="button"
          disabled={!canAct}
          onClick={() => void act(() => call('task.reopen', { teamId, taskId }), `T-${taskId} is back`)}
        >
          <RotateCcw size={15} aria-hidden /> Bring it back
        </button>
      )}
    </div>
  );
}

function Body({ teamId, view }: { teamId: string; view: TaskView }) {
  const { task } = view;
  const canAct = useCanAct();
  const usage = useTeam(({ view }) => view.state.taskUsage.get(task.id));
  const [isEditing, setEditing] = useState(false);
  const now = useTeamNow();
  if (isEditing) return <EditTask teamId={teamId} task={task} onClose={() => setEditing(false)} />;
  return (
    <div className="sheet-body">
      <h2 className="sheet-title text">{task.title}</h2>
      <Actions teamId={teamId} view={view} canAct={canAct} onEdit={() => setEditing(true)} />
      <div className="pair">
        <Assignee teamId={teamId} view={view} canAct={canAct} />
        <label className="field">
          <span>Priority</span>
          <select
            className="input"
            value={task.priority}
            disabled={!canAct}
            onChange={(event) => {
              const priority = PRIORITIES.find((one) => one === event.target.value) ?? 'medium';
              void act(() => call('task.update', { teamId, taskId: task.id, priority }));
            }}
          >
            {PRIORITIES.map((priority) => (
              <option key={priority}>{priority}</option>
            ))}
          </select>
        </label>
      </div>
      {task.failure !== undefined && <Part title="Why it failed" className="is-failed" text={task.failure} />}
      {task.feedback !== undefined && (
        <Part
          title={`What the gate said${task.rejections > 1 ? ` (sent back ×${task.rejections})` : ''}`}
          className="is-gate"
          text={task.feedback}
        />
      )}
      {task.description !== '' && <Part title="Description" text={task.description} />}
      {task.result !== undefined && <Part title="Result" className="is-done" text={task.result} />}
      <Dependencies teamId={teamId} view={view} canAct={canAct} />
      <dl className="facts">
        <Fact name="Created">
          {task.createdBy === '@user' ? 'you' : task.createdBy},{' '}
          <span title={showMoment(task.createdAt)}>{showSpan(now - task.createdAt.getTime())} ago</span>
        </Fact>
        {task.startedAt && (
          <Fact name="Worked on">{showSpan((task.completedAt?.getTime() ?? now) - task.startedAt.getTime())}</Fact>
        )}
        {usage && (
          <Fact name="Used">
            {showCount(tokensOf(usage))} tokens, {showCost(usage.costUsd)}
          </Fact>
        )}
        <Fact name="Epoch, revision">
          {task.epoch}, {task.revision}
        </Fact>
      </dl>
      <History taskId={task.id} />
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Part({ title, text, className = '' }: { title: string; text: string; className?: string }) {
  return (
    <section className={`sheet-part ${className}`}>
      <h3>{title}</h3>
      <Markdown text={text} />
    </section>
  );
}

function Actions({
  teamId,
  view: { task, phase },
  canAct,
  onEdit,
}: {
  teamId: string;
  view: TaskView;
  canAct: boolean;
  onEdit: () => void;
}) {
  const taskId = task.id;
  const isEnded = phase === 'done' || phase === 'failed';
  return (
    <div className="sheet-actions">
      <button type="button" className="button small" disabled={!canAct} onClick={onEdit}>
        <Pencil size={14} aria-hidden /> Edit
      </button>
      {isEnded && (
        <button
          type="button"
          className="button small"
          disabled={!canAct}
          onClick={() => void act(() => call('task.reopen', { teamId, taskId }), `T-${taskId} is open again`)}
        >
          <RotateCcw size={14} aria-hidden /> Reopen
        </button>
      )}
      {(phase === 'working' || phase === 'gate') && (
        <button
          type="button"
          className="button small"
          disabled={!canAct}
          title="Takes it from its holder; somebody may claim it again"
          onClick={() => void act(() => call('task.release', { teamId, taskId }), `T-${taskId} was given back`)}
        >
          <Undo2 size={14} aria-hidden /> Release
        </button>
      )}
      {!isEnded && phase !== 'blocked' && (
        <button
          type="button"
          className="button small"
          disabled={!canAct}
          onClick={() =>
            void act(() => call('task.update', { teamId, taskId, status: 'completed' }), `T-${taskId} is done`)
          }
        >
          <CircleCheck size={14} aria-hidden /> Done
        </button>
      )}
      <span className="spacer" />
      <button
        type="button"
        className="button small danger"
        disabled={!canAct}
        onClick={() => void act(() => call('task.delete', { teamId, taskId }), `T-${taskId} was deleted`)}
      >
        <Trash2 size={14} aria-hidden /> Delete
      </button>
    </div>
  );
}

function Assignee({ teamId, view: { task }, canAct }: { teamId: string; view: TaskView; canAct: boolean }) {
  const members = useTeam(({ view }) => view.members);
  return (
    <label className="field">
      <span>{task.status === 'in_progress' ? 'Held by' : 'For'}</span>
      <select
        className="input"
        value={task.assigneeId ?? ''}
        disabled={!canAct}
        onChange={(event) =>
          void act(() => call('task.assign', { teamId, taskId: task.id, assigneeId: event.target.value || null }))
        }
      >
        <option value="">anybody</option>
        {members
          .filter(({ id, status }) => status !== 'stopped' || id === task.assigneeId)
          .map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
      </select>
    </label>
  );
}

/** What it waits for and what waits for it; edges can also be drawn in the graph. */
function Dependencies({ teamId, view: { task }, canAct }: { teamId: string; view: TaskView; canAct: boolean }) {
  const tasks = useTeam(({ view }) => view.tasks);
  const byId = useTeam(({ view }) => view.byId);
  const [text, setText] = useState('');
  const add = async (): Promise<void> => {
    const id = /^(?:T-)?(\d+)/i.exec(text.trim())?.[1] ?? tasks.find((one) => one.task.title === text.trim())?.id;
    if (id === undefined) return;
    const isDone = await act(
      () => call('task.depend', { teamId, taskId: task.id, dependencies: [id] }),
      `T-${task.id} now waits for T-${id}`,
    );
    if (isDone) setText('');
  };
  return (
    <section className="sheet-part">
      <h3>Waits for</h3>
      <ul className="needs">
        {task.dependencies.map((id) => (
          <li key={id} className="row">
            <TaskLine teamId={teamId} view={byId.get(id)} id={id} />
            <span className="spacer" />
            <button
              type="button"
              className="button ghost icon small"
              disabled={!canAct}
              aria-label={`Wait for T-${id} no longer`}
              onClick={() => void act(() => call('task.undepend', { teamId, taskId: task.id, dependencies: [id] }))}
            >
              <X size={14} aria-hidden />
            </button>
          </li>
        ))}
        {task.dependencies.length === 0 && <li className="quiet">nothing</li>}
      </ul>
      {canAct && (
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            void add();
          }}
        >
          <input
            className="input"
            list="all-tasks"
            value={text}
            onChange={(event) => setText(event.target.value)}
            placeholder="Add a dependency: T-3 or its title"
            aria-label="Add a dependency"
          />
          <datalist id="all-tasks">
            {tasks
              .filter(({ id }) => id !== task.id && !task.dependencies.includes(id))
              .slice(0, 200)
              .map((one) => (
                <option key={one.id} value={`T-${one.id}`}>
                  {one.task.title}
                </option>
              ))}
          </datalist>
          <button type="submit" className="button icon" aria-label="Add the dependency" disabled={text.trim() === ''}>
            <Plus size={16} aria-hidden />
          </button>
        </form>
      )}
      {task.blocks.length > 0 && (
        <>
          <h3>Then unblocks</h3>
          <ul className="needs">
            {task.blocks.map((id) => (
              <li key={id} className="row">
                <TaskLine teamId={teamId} view={byId.get(id)} id={id} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

export function TaskLine({ teamId, view, id }: { teamId: string; view: TaskView | undefined; id: string }) {
  if (!view) return <span className="mono quiet">T-{id}</span>;
  return (
    <Link className="task-line" href={withQuery(teamPath(teamId, `/task/${id}`))}>
      <span className={`status is-${view.phase}`}>
        <PhaseIcon phase={view.phase} />
      </span>
      <span className="mono quiet">T-{id}</span>
      <span className="one-line">{view.task.title}</span>
    </Link>
  );
}

function History({ taskId }: { taskId: string }) {
  const store = useStore();
  const seq = useTeam(({ moment, progress }) => moment ?? progress.done);
  const events = store.history
    .slice(0, seq)
    .flatMap(({ seq, events }) =>
      events
        .filter((event) => 'taskId' in event && event.taskId === taskId && event.type !== 'usage:recorded')
        .map((event) => ({ seq, event })),
    );
  return (
    <section className="sheet-part">
      <h3>History</h3>
      <ol className="events">
        {events.toReversed().map(({ seq, event }) => (
          <li key={`${seq} ${event.type}`}>
            <button type="button" onClick={() => store.show(seq)} title="Show the team at this moment">
              <time dateTime={new Date(event.at).toISOString()}>{showTime(event.at)}</time>
              <span className="text">{describeEvent(event)}</span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

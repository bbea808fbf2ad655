import { useState } from 'react';
import type { ReactNode } from 'react';
import type { TaskPhase, TaskView } from '../../data/task-view.ts';
import type { Priority } from '../../forms/priorities.ts';
import { PHASE_WORDS, PhaseIcon } from '../../parts/status.tsx';
import type { Move } from './moves.ts';

/** Nobody reads further down a column; more are shown on request. */
const SHOWN = 40;
const MORE = 200;

/** What would happen if the dragged card were dropped here. */
export interface Landing {
  readonly move: Move;
  readonly isOver: boolean;
  /** In its own column: how many cards would be above it, and the priority that puts it there. */
  readonly order?: { readonly index: number; readonly priority: Priority; readonly isSame: boolean };
}

/** The tasks of one phase. */
export function Column({
  phase,
  tasks,
  landing,
  render,
}: {
  phase: TaskPhase;
  tasks: readonly TaskView[];
  landing: Landing | undefined;
  render: (view: TaskView) => ReactNode;
}) {
  const [count, setCount] = useState(SHOWN);
  const shown = tasks.slice(0, count);
  const line = landing?.isOver && landing.order ? <DropLine order={landing.order} /> : undefined;
  return (
    <section
      className={`column${landing ? ` ${landing.move.kind === 'refused' ? 'may-not' : 'may'}` : ''}${landing?.isOver ? ' over' : ''}`}
      aria-label={`${PHASE_WORDS[phase]}, ${tasks.length}`}
      data-phase={phase}
    >
      <h2 className={`status is-${phase}`}>
        <PhaseIcon phase={phase} size={15} /> {PHASE_WORDS[phase]} <span className="quiet">{tasks.length}</span>
      </h2>
      {landing?.isOver && landing.move.kind !== 'stay' && (
        <p className="landing">{landing.move.kind === 'refused' ? landing.move.why : landing.move.words}</p>
      )}
      <ul>
        {shown.map((view, i) => (
          <li key={view.id}>
            {line && landing?.order?.index === i && line}
            {render(view)}
          </li>
        ))}
        {line && (landing?.order?.index ?? 0) >= shown.length && <li>{line}</li>}
      </ul>
      {tasks.length > count && (
        <button type="button" className="button ghost small" onClick={() => setCount(count + MORE)}>
          Show {Math.min(MORE, tasks.length - count)} more
        </button>
      )}
    </section>
  );
}

function DropLine({ order: { priority, isSame } }: { order: NonNullable<Landing['order']> }) {
  return <div className="drop-line">{isSame ? `stays ${priority}` : `priority ${priority}`}</div>;
}

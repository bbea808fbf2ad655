import { useState } from 'react';
import { teamPath, withQuery } from '../data/route.ts';
import { TASK_PHASES } from '../data/task-view.ts';
import type { TaskPhase, TaskView } from '../data/task-view.ts';
import { Link } from '../parts/link.tsx';
import { PHASE_WORDS, PhaseIcon } from '../parts/status.tsx';
import { Holder, Since } from './graph/task-node.tsx';

/** Nobody reads further down a column; more are shown when asked for. */
const SHOWN = 40;

/** The tasks as cards in columns, one per phase. */
export function Board({ teamId, tasks }: { teamId: string; tasks: readonly TaskView[] }) {
  const byPhase = Map.groupBy(tasks, ({ phase }) => phase);
  const shown = TASK_PHASES.filter(
    (phase) => byPhase.has(phase) || phase === 'pending' || phase === 'in_progress' || phase === 'completed',
  );
  return (
    <div className="board" tabIndex={0} role="group" aria-label="Board">
      {shown.map((phase) => (
        <Column key={phase} teamId={teamId} phase={phase} tasks={sort(phase, byPhase.get(phase) ?? [])} />
      ))}
    </div>
  );
}

const URGENCY = { critical: 0, high: 1, medium: 2, low: 3 } as const;

/** What is done most recently comes first; what can be taken, in the order in which it is taken. */
function sort(phase: TaskPhase, tasks: readonly TaskView[]): readonly TaskView[] {
  if (phase === 'completed' || phase === 'failed') {
    return tasks.toSorted((a, b) => (b.task.completedAt?.getTime() ?? 0) - (a.task.completedAt?.getTime() ?? 0));
  }
  return tasks.toSorted((a, b) => URGENCY[a.task.priority] - URGENCY[b.task.priority]);
}

function Column({ teamId, phase, tasks }: { teamId: string; phase: TaskPhase; tasks: readonly TaskView[] }) {
  const [count, setCount] = useState(SHOWN);
  return (
    <section className="column" aria-label={`${PHASE_WORDS[phase]}, ${tasks.length}`}>
      <h2 className={`status is-${phase}`}>
        <PhaseIcon phase={phase} size={15} /> {PHASE_WORDS[phase]} <span className="quiet">{tasks.length}</span>
      </h2>
      <ul>
        {tasks.slice(0, count).map((view) => (
          <li key={view.id}>
            <Card teamId={teamId} view={view} />
          </li>
        ))}
      </ul>
      {tasks.length > count && (
        <button type="button" className="button ghost small" onClick={() => setCount(count + 200)}>
          Show {Math.min(200, tasks.length - count)} more
        </button>
      )}
    </section>
  );
}

function Card({ teamId, view }: { teamId: string; view: TaskView }) {
  const { task, phase } = view;
  return (
    <Link className={`card is-${phase}`} href={withQuery(teamPath(teamId, `/task/${task.id}`))}>
      <span className="card-title two-lines">{task.title}</span>
      <span className="card-foot">
        <span className="mono">#{task.id}</span>
        <Priority priority={task.priority} />
        <span className="one-line">
          <Since view={view} />
        </span>
        <span className="spacer" />
        <Holder id={task.assigneeId} />
      </span>
    </Link>
  );
}

/** Only what is out of the ordinary is said. */
export function Priority({ priority }: { priority: TaskView['task']['priority'] }) {
  if (priority === 'medium') return null;
  return <span className={`priority ${priority}`}>{priority}</span>;
}

import { teamPath, withQuery } from '../data/route.ts';
import type { TaskView } from '../data/task-view.ts';
import { showControls } from '../parts/controls.ts';
import { Link } from '../parts/link.tsx';
import { PhaseIcon } from '../parts/status.tsx';

/** A link to a task, in one line. */
export function TaskLine({ teamId, view, id }: { teamId: string; view: TaskView | undefined; id: string }) {
  if (!view) return <span className="mono quiet">#{id}</span>;
  return (
    <Link className="task-line" href={withQuery(teamPath(teamId, `/task/${id}`))}>
      <span className={`status is-${view.phase}`}>
        <PhaseIcon phase={view.phase} />
      </span>
      <span className="mono quiet">#{id}</span>
      <span className="one-line">{showControls(view.task.title)}</span>
    </Link>
  );
}

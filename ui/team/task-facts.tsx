import type { TaskView } from '../data/task-view.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { useTeam } from '../data/use-team.tsx';
import { Avatar } from '../parts/avatar.tsx';
import { showSpan } from '../parts/format.ts';

/** How long it has been so, where that matters; `dot` puts it behind a word. */
export function Since({ view: { task, phase }, dot = false }: { view: TaskView; dot?: boolean }) {
  const before = dot ? ' · ' : '';
  if ((phase === 'in_progress' || phase === 'gate') && task.startedAt) {
    return (
      <>
        {before}
        <Elapsed since={task.startedAt.getTime()} />
      </>
    );
  }
  if (task.rejections === 0 || phase === 'completed') return null;
  return (
    <span title={`A gate sent it back ${task.rejections} times`}>
      {before}gate ×{task.rejections}
    </span>
  );
}

function Elapsed({ since }: { since: number }) {
  return <>{showSpan(useTeamNow() - since)}</>;
}

/** Who holds a task or is to have it. */
export function Holder({ id }: { id: string | undefined }) {
  const color = useTeam(({ view }) => (id === undefined ? undefined : view.state.members.get(id)?.color));
  if (id === undefined) return null;
  return (
    <span className="holder">
      <Avatar name={id} color={color} size={16} />
      <span className="one-line">{id}</span>
    </span>
  );
}

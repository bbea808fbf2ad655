import type { CSSProperties } from 'react';
import { waitsSince, workedOn } from '../../src/client/replica.ts';
import type { SharedTask } from '../../src/core/task.ts';
import type { TaskView } from '../data/task-view.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { useTeam } from '../data/use-team.tsx';
import { Avatar } from '../parts/avatar.tsx';
import { showSpan } from '../parts/format.ts';

/** How long it was worked on, waits for an answer or stands at the gate; how often it came back. `dot` puts it behind a word. */
export function Since({ view: { task, phase }, dot = false }: { view: TaskView; dot?: boolean }) {
  const before = dot ? ' · ' : '';
  if ((phase === 'in_progress' || phase === 'gate') && task.startedAt) {
    return (
      <>
        {before}
        <Elapsed task={task} isGate={phase === 'gate'} />
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

/** The time of work stands still while the holder waits for an answer: then it is told how long that takes. */
function Elapsed({ task, isGate }: { task: SharedTask; isGate: boolean }) {
  const { span, isWaiting } = useWorkTime(task);
  return <>{isWaiting && !isGate ? `waits ${span}` : span}</>;
}

/** How long a task that somebody holds was worked on, or (while its holder waits for an answer) has waited for that. */
export function useWorkTime(task: SharedTask): { span: string; isWaiting: boolean } {
  const now = useTeamNow();
  const requests = useTeam(({ view }) => view.state.requests);
  // The table is the same one after an answer; what is open of it is not.
  useTeam(({ view }) => view.pending);
  const waits = waitsSince(task, requests.values());
  const span = showSpan(waits === undefined ? workedOn(task, requests.values(), now) : now - waits);
  return { span, isWaiting: waits !== undefined };
}

/** Who holds a task or is to have it. */
export function Holder({ id }: { id: string | undefined }) {
  const color = useTeam(({ view }) => (id === undefined ? undefined : view.state.members.get(id)?.color));
  if (id === undefined) return null;
  return (
    <span className="holder" title={id}>
      <Avatar name={id} color={color} size={16} />
      <span className="one-line" style={{ '--letters': id.length } as CSSProperties}>
        {id}
      </span>
    </span>
  );
}

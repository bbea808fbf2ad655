import type { SharedTask } from '../../../src/core/task.ts';
import { useCanAct } from '../../data/use-can-act.ts';
import { useTeam } from '../../data/use-team.tsx';
import { RequestCard } from '../../queue/request-card.tsx';
import { useKept } from '../../queue/use-kept.ts';

/** What waits for an answer before the task can go on: requests about it, and those of its holder meanwhile. */
export function TaskWaits({ task: { id, status, assigneeId } }: { task: SharedTask }) {
  const pending = useTeam(({ view }) => view.pending);
  const canAct = useCanAct();
  const own = pending.filter(({ taskId, memberId }) =>
    taskId === undefined ? status === 'in_progress' && memberId === assigneeId : taskId === id,
  );
  const { shown, moveOn } = useKept(own, Infinity);
  if (shown.length === 0) return null;
  return (
    <section className="sheet-waits" aria-label="Waits for an answer">
      {shown.map((request) => (
        <RequestCard key={request.id} request={request} title={undefined} isOpen canAct={canAct} onNext={moveOn} />
      ))}
    </section>
  );
}

import { ListChecks } from 'lucide-react';
import { TASK_PHASES } from '../data/task-view.ts';
import { useTeam } from '../data/use-team.tsx';
import { Empty } from '../parts/empty.tsx';
import { PHASE_WORDS } from '../parts/status.tsx';
import { TaskLine } from '../team/task-line.tsx';

/** The tasks that a member works on, that are reserved for it, and that it has finished. */
export function MemberTasks({ teamId, memberId }: { teamId: string; memberId: string }) {
  const tasks = useTeam(({ view }) => view.tasks);
  const own = tasks.filter(({ task }) => task.assigneeId === memberId);
  if (own.length === 0) {
    return (
      <Empty icon={ListChecks} title="No task">
        <p className="quiet">Nothing is held by {memberId} or reserved for it.</p>
      </Empty>
    );
  }
  return (
    <div className="member-tasks" tabIndex={0} role="group" aria-label={`Tasks of ${memberId}`}>
      {(
        ['in_progress', 'gate', ...TASK_PHASES.filter((phase) => phase !== 'in_progress' && phase !== 'gate')] as const
      ).map((phase) => {
        const some = own.filter((view) => view.phase === phase).slice(0, 200);
        if (some.length === 0) return null;
        return (
          <section key={phase}>
            <h2 className="label">
              {PHASE_WORDS[phase]} <span className="quiet">{some.length}</span>
            </h2>
            <ul>
              {some.map((view) => (
                <li key={view.id}>
                  <TaskLine teamId={teamId} view={view} id={view.id} />
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}

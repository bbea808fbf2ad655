import { isCounted } from '../../src/client/replica.ts';
import { teamPath } from '../data/route.ts';
import { useTeam } from '../data/use-team.tsx';
import { Avatar } from '../parts/avatar.tsx';
import { plural } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { Doing, MemberState } from '../team/member-state.tsx';
import { TaskLine } from '../team/task-line.tsx';

/** Enough to show the state of a team; the team's page has all tasks. */
const TASKS = 30;

/** Shown beside a lead that is an agent, and (`withLead`) inside of a member that is a team: the teammates with what they do, and the shared task list. */
export function TeamPanel({ teamId, withLead = false }: { teamId: string; withLead?: boolean }) {
  const team = useTeam(({ view }) => view.team);
  const members = useTeam(({ view }) => view.members);
  const tasks = useTeam(({ view }) => view.tasks);
  const teammates = members.filter((member) => (withLead || member.id !== team?.leadId) && isCounted(member, team));
  const open = tasks.filter(({ phase }) => phase !== 'completed');
  const done = tasks.filter(({ phase }) => phase === 'completed').toReversed();
  const shown = [...open, ...done].slice(0, TASKS);
  return (
    <details className="team-panel" open>
      <summary>
        Team <span className="quiet">{plural(teammates.length, withLead ? 'member' : 'teammate')}</span>
      </summary>
      <ul className="team-panel-members">
        {teammates.map((member) => (
          <li key={member.id} className="row">
            <Avatar name={member.id} color={member.color} size={20} />
            <div className="team-panel-who">
              <div className="row">
                <Link className="one-line" href={teamPath(teamId, `/m/${member.id}`)}>
                  {member.id}
                </Link>
                <span className="spacer" />
                <MemberState member={member} />
              </div>
              <div className="meta one-line">
                <Doing member={member} />
              </div>
            </div>
          </li>
        ))}
      </ul>
      <h3 className="label">
        Shared tasks <span className="quiet">{tasks.length}</span>
      </h3>
      <ul className="team-panel-tasks">
        {shown.map((view) => (
          <li key={view.id} className="row">
            <TaskLine teamId={teamId} view={view} id={view.id} />
            <span className="spacer" />
            <span className="meta one-line">{view.task.assigneeId}</span>
          </li>
        ))}
      </ul>
      {tasks.length > TASKS && (
        <Link className="button ghost small" href={teamPath(teamId)}>
          All {tasks.length}
        </Link>
      )}
    </details>
  );
}

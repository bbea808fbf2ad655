import { Eye, Link2, TriangleAlert } from 'lucide-react';
import { navigate, teamPath } from '../data/route.ts';
import { showControls } from '../parts/controls.ts';
import { plural, showMoment, showSpan, useNow } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { ProgressBar } from '../parts/progress-bar.tsx';
import type { NativeTeam } from './use-native-teams.ts';

/** Claude Code's own teams, as its files have them. */
export function NativeTable({
  teams,
  root,
  joined,
}: {
  teams: readonly NativeTeam[];
  root: string;
  joined: ReadonlyMap<string, string>;
}) {
  const now = useNow();
  return (
    <>
      <h2 className="teams-part" title={root}>
        Claude Code’s own
      </h2>
      <table className="teams native-table" aria-label="Claude Code’s own teams">
        <thead>
          <tr>
            <th>Team</th>
            <th>Progress</th>
            <th className="number">Members</th>
            <th className="number wide">Messages</th>
            <th className="number wide">Last activity</th>
          </tr>
        </thead>
        <tbody>
          {teams.map((team) => (
            <NativeRow key={`${team.kind} ${team.name}`} team={team} joined={joined.get(team.name)} now={now} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function NativeRow({ team, joined, now }: { team: NativeTeam; joined: string | undefined; now: number }) {
  const count = (status: string): number => team.tasks.filter((task) => task.status === status).length;
  const [done, running] = [count('completed'), count('in_progress')];
  const href = `/native/${encodeURIComponent(team.name)}`;
  const problems = [...team.problems, ...(team.readOnly === undefined ? [] : [team.readOnly])];
  const [problem] = problems;
  return (
    <tr onClick={(event) => !(event.target instanceof HTMLAnchorElement) && navigate(href)}>
      <td className="teams-name">
        <span className="row">
          <Link href={href} className="one-line">
            {showControls(team.title)}
          </Link>
          <span className="badge">{team.kind === 'team' ? 'Claude Code team' : 'Claude Code session'}</span>
          {joined !== undefined && (
            <Link className="status is-completed" href={teamPath(joined)}>
              <Link2 size={14} aria-hidden /> joined as {joined}
            </Link>
          )}
          {team.readOnly !== undefined && (
            <span className="status is-gate" title={showControls(team.readOnly)}>
              <Eye size={14} aria-hidden /> {team.form === 'unreadable' ? 'cannot be read' : 'can only be looked at'}
            </span>
          )}
        </span>
        {problem === undefined ? (
          team.description && <span className="meta two-lines">{showControls(team.description)}</span>
        ) : (
          <span className="meta two-lines">
            <TriangleAlert size={12} aria-hidden /> {showControls(problem)}
            {problems.length > 1 && ` (and ${plural(problems.length - 1, 'more', 'more')})`}
          </span>
        )}
      </td>
      <td>
        <span className="row">
          <ProgressBar counts={{ completed: done, in_progress: running }} of={team.tasks.length} />
          <span className="teams-count">
            <b>{done}</b> <span className="quiet">of {team.tasks.length}</span>
          </span>
        </span>
      </td>
      <td className="number">
        {team.members.length} <span className="narrow-word">{team.members.length === 1 ? 'member' : 'members'}</span>
      </td>
      <td className="number wide">{team.messages}</td>
      <td className="number wide quiet" title={showMoment(new Date(team.changedAt))}>
        {showSpan(now - Date.parse(team.changedAt))} ago
      </td>
    </tr>
  );
}

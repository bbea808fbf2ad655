import { Eye, Link2, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { teamPath } from '../data/route.ts';
import { showControls } from '../parts/controls.ts';
import { plural } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { TeamsRow, TeamsTable } from './teams-table.tsx';
import type { NativeTeam } from './use-native-teams.ts';

const FIGURES = [['Messages', 'number wide']] as const;

/** Claude Code's own teams, from its files. */
export function NativeTable({
  teams,
  root,
  joined,
}: {
  teams: readonly NativeTeam[];
  root: string;
  joined: ReadonlyMap<string, string>;
}) {
  return (
    <>
      <h2 className="teams-part" title={root}>
        Claude Code’s own
      </h2>
      <TeamsTable label="Claude Code’s own teams" className="native-table" figures={FIGURES}>
        {teams.map((team) => (
          <NativeRow key={`${team.kind} ${team.name}`} team={team} joined={joined.get(team.name)} />
        ))}
      </TeamsTable>
    </>
  );
}

function NativeRow({ team, joined }: { team: NativeTeam; joined: string | undefined }) {
  const count = (status: string): number => team.tasks.filter((task) => task.status === status).length;
  const done = count('completed');
  return (
    <TeamsRow
      href={`/native/${encodeURIComponent(team.name)}`}
      name={team.title}
      marks={
        <>
          <span className="badge">{team.kind === 'team' ? 'Claude Code team' : 'Claude Code session'}</span>
          {joined !== undefined && (
            <Link className="status is-completed" href={teamPath(joined)}>
              <Link2 size={14} aria-hidden /> joined as {joined}
            </Link>
          )}
          {team.readOnly !== undefined && (
            <span className="status is-gate" title={showControls(team.readOnly)}>
              <Eye size={14} aria-hidden /> {team.form === 'unreadable' ? 'cannot be read' : 'read-only'}
            </span>
          )}
        </>
      }
      words={wordsOf(team)}
      done={done}
      of={team.tasks.length}
      counts={{ completed: done, in_progress: count('in_progress') }}
      members={team.members.length}
      figures={<td className="number wide">{team.messages}</td>}
      activeAt={team.changedAt}
    />
  );
}

/** What is wrong with its files, else its description. */
function wordsOf(team: NativeTeam): ReactNode {
  const problems = [...team.problems, ...(team.readOnly === undefined ? [] : [team.readOnly])];
  const [problem] = problems;
  if (problem === undefined) return showControls(team.description ?? '');
  return (
    <>
      <TriangleAlert size={12} aria-hidden /> {showControls(problem)}
      {problems.length > 1 && ` (and ${plural(problems.length - 1, 'more', 'more')})`}
    </>
  );
}

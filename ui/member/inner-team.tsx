import { teamPath } from '../data/route.ts';
import { useSignal } from '../data/signal.ts';
import { isForPerson, teams } from '../data/teams.ts';
import type { TeamLine } from '../data/teams.ts';
import { useCanAct } from '../data/use-can-act.ts';
import { TeamProvider, useTeam } from '../data/use-team.tsx';
import { costOrUntold, tokensOf, tokensOrUntold } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { SituationPill } from '../parts/situation.tsx';
import { RequestCard } from '../queue/request-card.tsx';
import { useKept } from '../queue/use-kept.ts';
import { TeamPanel } from './team-panel.tsx';

/** How many teams of earlier tasks are listed. */
const EARLIER = 10;

/** The teams that work for a member, and worked for it before: the running one with its members and tasks. */
export function InnerTeams({ teamId, memberId }: { teamId: string; memberId: string }) {
  const all = useSignal(teams) ?? [];
  const own = all
    .filter(({ parent }) => parent?.teamId === teamId && parent.memberId === memberId)
    .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
  const open = own.filter(({ status }) => status !== 'cleaned-up');
  const closed = own.filter(({ status }) => status === 'cleaned-up');
  if (own.length === 0) return null;
  return (
    <section className="inner-teams" aria-label={`Teams inside ${memberId}`}>
      {open.map((team) => (
        <article key={team.id} className="inner-team" aria-label={`Team ${team.name}`}>
          <Head team={team} />
          <TeamProvider teamId={team.id}>
            <Waiting />
            <TeamPanel teamId={team.id} withLead />
          </TeamProvider>
        </article>
      ))}
      {closed.length > 0 && (
        <details className="team-panel">
          <summary>
            Earlier teams <span className="quiet">{closed.length}</span>
          </summary>
          {closed.slice(0, EARLIER).map((team) => (
            <Head key={team.id} team={team} />
          ))}
        </details>
      )}
    </section>
  );
}

function Head({ team }: { team: TeamLine }) {
  const { id, name, parent, completedTasks, tasks, usage } = team;
  return (
    <header className="inner-team-head">
      <div className="row">
        <Link className="one-line" href={teamPath(id)}>
          {name}
        </Link>
        <span className="spacer" />
        <SituationPill situation={team.situation} />
      </div>
      <div className="meta one-line">
        {parent && <Link href={teamPath(parent.teamId, `/task/${parent.taskId}`)}>#{parent.taskId}</Link>} ·{' '}
        {completedTasks} of {tasks} done · {tokensOrUntold(tokensOf(usage))} tokens · {costOrUntold(usage.costUsd ?? 0)}
      </div>
    </header>
  );
}

/** What the members of the inner team ask, to be answered here as well. */
function Waiting() {
  const own = useTeam(({ view }) => view.pending).filter(isForPerson);
  const canAct = useCanAct();
  const { shown, moveOn } = useKept(own, Infinity);
  return shown.map((request) => (
    <RequestCard key={request.id} request={request} title={undefined} isOpen canAct={canAct} onNext={moveOn} />
  ));
}

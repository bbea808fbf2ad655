import { CircleAlert, Inbox, Play, Plus, Search, TriangleAlert, Users } from 'lucide-react';
import { useRef, useState } from 'react';
import { parentsOf, withInner } from '../../src/client/replica.ts';
import { teamPath, useQuery } from '../data/route.ts';
import { useSignal } from '../data/signal.ts';
import { queue, teams } from '../data/teams.ts';
import type { TeamLine } from '../data/teams.ts';
import { NewTeam } from '../forms/new-team.tsx';
import { StartTeam } from '../forms/start-team.tsx';
import { Command } from '../parts/command.tsx';
import { showControls } from '../parts/controls.ts';
import { Empty } from '../parts/empty.tsx';
import { costOrUntold, plural, tokensOf, tokensOrUntold } from '../parts/format.ts';
import { useKeys } from '../parts/keys.ts';
import { Link } from '../parts/link.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { SituationHelp, SituationPill } from '../parts/situation.tsx';
import { NativeTable } from './native-table.tsx';
import { TeamsRow, TeamsTable } from './teams-table.tsx';
import { useNativeTeams } from './use-native-teams.ts';
import './teams.css';

/** All teams, the open ones first; closed ones stay readable. */
export function TeamsPage() {
  const list = useSignal(teams);
  const [query, setQuery] = useQuery();
  const [isNew, setNew] = useState(false);
  const [isStarting, setStarting] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  useKeys({ '/': () => search.current?.focus(), n: () => setNew(true) });
  const wanted = (query.get('q') ?? '').toLowerCase();
  const found = (list ?? []).filter(
    ({ name, description }) => name.includes(wanted) || description.toLowerCase().includes(wanted),
  );
  const broken = found.filter(({ problem }) => problem !== undefined);
  const whole = found.filter(({ problem }) => problem === undefined).sort(byActivity);
  const live = nested(whole.filter(({ status }) => status !== 'cleaned-up'));
  const closed = nested(whole.filter(({ status }) => status === 'cleaned-up'));
  const native = useNativeTeams();
  const foundNative = native?.teams.filter(({ title }) => title.toLowerCase().includes(wanted)) ?? [];
  return (
    <main className="page" id="main" tabIndex={-1}>
      <div className="page-head">
        <h1>Teams</h1>
        {list && <span className="meta team-total">{plural(list.length, 'team')}</span>}
        <span className="spacer" />
        <SearchField ref={search} label="Find a team" value={query.get('q') ?? ''} onText={(q) => setQuery({ q })}>
          <kbd>/</kbd>
        </SearchField>
        <button type="button" className="button" onClick={() => setNew(true)} aria-label="New team">
          <Plus size={16} aria-hidden /> Team
        </button>
        <button type="button" className="button primary" onClick={() => setStarting(true)}>
          <Play size={15} aria-hidden /> Start work
        </button>
      </div>
      {!list && <TeamsSkeleton />}
      {list?.length === 0 && (
        <Empty icon={Users} title="No team yet">
          <p>Say what should be done, where and by which agents. The lead makes tasks of it.</p>
          <button type="button" className="button primary" onClick={() => setStarting(true)}>
            <Play size={15} aria-hidden /> Start here
          </button>
          <p className="quiet">A team file does the same from a terminal:</p>
          <Command text="troupe init script && troupe up" />
        </Empty>
      )}
      {list && list.length > 0 && found.length + foundNative.length === 0 && (
        <Empty icon={Search} title={<>No team is called “{query.get('q')}”</>}>
          <button type="button" className="button" onClick={() => setQuery({ q: undefined })}>
            Clear
          </button>
        </Empty>
      )}
      {broken.map((team) => (
        <BrokenTeam key={team.id} team={team} />
      ))}
      <TeamTable lines={live} label="Open teams" />
      {closed.length > 0 && (
        <>
          <h2 className="teams-part">Closed</h2>
          <TeamTable lines={closed} label="Closed teams" />
        </>
      )}
      {native && foundNative.length > 0 && (
        <NativeTable teams={foundNative} root={native.root} joined={native.joined} />
      )}
      <StartTeam isOpen={isStarting} onClose={() => setStarting(false)} />
      <NewTeam isOpen={isNew} onClose={() => setNew(false)} />
    </main>
  );
}

/** A team whose journal cannot be read. It is not hidden among closed teams, and says why, and what to do. */
function BrokenTeam({ team }: { team: TeamLine }) {
  return (
    <article className="broken" aria-label={`Team ${team.name} cannot be read`}>
      <TriangleAlert size={18} aria-hidden />
      <div>
        <h2 className="row">
          <Link href={teamPath(team.id)} className="one-line">
            {team.name}
          </Link>
          <SituationPill situation={team.situation} />
        </h2>
        <p className="text">{team.problem}</p>
      </div>
    </article>
  );
}

function byActivity(a: TeamLine, b: TeamLine): number {
  return b.activeAt.localeCompare(a.activeAt);
}

/** Each team inside a member is below the team of that member. */
function nested(lines: readonly TeamLine[]): TeamLine[] {
  const isOuter = ({ parent }: TeamLine): boolean => !lines.some(({ id }) => id === parent?.teamId);
  const order = lines.filter(isOuter).flatMap(({ id }) => withInner(lines, id));
  return order.flatMap((id) => lines.find((line) => line.id === id) ?? []);
}

const FIGURES = [
  ['Tokens', 'number wide'],
  ['Cost', 'number'],
] as const;

function TeamTable({ lines, label }: { lines: readonly TeamLine[]; label: string }) {
  if (lines.length === 0) return null;
  return (
    <TeamsTable label={label} figures={FIGURES}>
      {lines.map((team) => (
        <TeamRow key={team.id} team={team} />
      ))}
    </TeamsTable>
  );
}

function TeamRow({ team }: { team: TeamLine }) {
  const { name, description, status, tasks, completedTasks, running, failed, waiting, members, usage, activeAt } = team;
  const { situation } = team;
  const gated = useGated(team.id);
  const depth = useDepth(team);
  return (
    <TeamsRow
      href={teamPath(team.id)}
      name={name}
      depth={depth}
      marks={
        <>
          <SituationPill situation={situation} />
          <SituationHelp teamId={team.id} situation={situation} />
          {waiting > 0 && situation.kind !== 'needs-you' && status !== 'cleaned-up' && (
            <span className="status is-gate">
              <Inbox size={14} aria-hidden /> {waiting} waiting
            </span>
          )}
          {failed > 0 && situation.kind !== 'failed' && (
            <span className="status is-failed">
              <CircleAlert size={14} aria-hidden /> {failed} failed
            </span>
          )}
        </>
      }
      words={
        team.parent ? (
          <>
            Works on #{team.parent.taskId} for {team.parent.memberId} of {team.parent.teamId}
          </>
        ) : (
          showControls(description)
        )
      }
      done={completedTasks}
      of={tasks}
      counts={{ completed: completedTasks, in_progress: running - gated, gate: gated, failed }}
      members={members}
      figures={
        <>
          <td className="number wide">{tokensOrUntold(tokensOf(usage))}</td>
          <td className={usage.costUsd ? 'number' : 'number untold'}>{costOrUntold(usage.costUsd ?? 0)}</td>
        </>
      }
      activeAt={activeAt}
    />
  );
}

/** How many teams are around a team. */
function useDepth({ id }: TeamLine): number {
  return parentsOf(useSignal(teams) ?? [], id).length;
}

/** How many tasks of a team wait for a person because their gate gave up. */
function useGated(teamId: string): number {
  const gates = useSignal(queue).filter((one) => one.teamId === teamId && one.kind === 'gate');
  return new Set(gates.flatMap(({ taskId }) => taskId ?? [])).size;
}

function TeamsSkeleton() {
  return (
    <div className="stack" aria-hidden>
      {[1, 2, 3].map((i) => (
        <div key={i} className="skeleton" style={{ height: 56 }} />
      ))}
    </div>
  );
}

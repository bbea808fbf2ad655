import { ListChecks, SearchX } from 'lucide-react';
import { Suspense, useEffect, useState } from 'react';
import { useCanAct } from '../data/use-can-act.ts';
import { useMoment } from '../data/use-moment.ts';
import { useTeam } from '../data/use-team.tsx';
import { NewTask } from '../forms/new-task.tsx';
import { Command } from '../parts/command.tsx';
import { showControls } from '../parts/controls.ts';
import { Empty } from '../parts/empty.tsx';
import { useKeys } from '../parts/keys.ts';
import { later } from '../parts/later.ts';
import { PHASE_WORDS } from '../parts/status.tsx';
import { record } from '../record/head.ts';
import { Board } from './board/board.tsx';
import { BulkBar } from './bulk/bulk-bar.tsx';
import { FailedTeam } from './failed-team.tsx';
import { prepareLayout } from './graph/layout.ts';
import { TaskSheet } from './sheet/task-sheet.tsx';
import { SidePanel } from './side-panel.tsx';
import { TaskList } from './task-list.tsx';
import { TeamHeader } from './team-header.tsx';
import { TimeLine } from './time-line/time-line.tsx';
import { Toolbar } from './toolbar.tsx';
import { useFilter, useFound } from './use-filter.ts';
import type { Filter, TeamViewName } from './use-filter.ts';
import './team.css';

const loadGraph = async () => (await import('./graph/graph.tsx')).Graph;
const Graph = later(loadGraph);

/** A team: its tasks in three views, its members, its requests, all at any moment. */
export function TeamPage({ teamId, taskId }: { teamId: string; taskId: string | undefined }) {
  const phase = useTeam(({ phase }) => phase);
  const isPast = useTeam(({ moment }) => moment !== undefined);
  useMoment();
  useEffect(prepareGraph, []);
  if (phase === 'failed') return <FailedTeam />;
  if (phase === 'loading') return <TeamSkeleton />;
  return (
    <main className={`team${isPast ? ' is-past' : ''}`} id="main" tabIndex={-1}>
      <TeamHeader teamId={teamId} />
      <Stage teamId={teamId} taskId={taskId} />
      <SidePanel teamId={teamId} />
      <TimeLine />
      {taskId !== undefined && <TaskSheet key={taskId} teamId={teamId} taskId={taskId} />}
    </main>
  );
}

/** Loads the graph and its layout while the team is being read. */
function prepareGraph(): void {
  prepareLayout();
  void loadGraph().catch(() => undefined);
}

function Stage({ teamId, taskId }: { teamId: string; taskId: string | undefined }) {
  const { view, setView, filter, clear, isFiltered } = useFilter();
  const found = useFound(filter);
  const total = useTeam(({ view }) => view.tasks.length);
  const isClosed = useTeam(({ view }) => view.team?.status === 'cleaned-up') || record !== undefined;
  const isLed = useTeam(({ view: { members, team } }) =>
    members.some(({ id, agent }) => id === team?.leadId && agent !== undefined),
  );
  const canAct = useCanAct();
  const [isNew, setNew] = useState(false);
  useKeys({
    '1': () => setView('graph'),
    '2': () => setView('board'),
    '3': () => setView('list'),
    n: canAct ? () => setNew(true) : undefined,
  });
  return (
    <section className="stage" aria-label="Tasks">
      <Toolbar onNewTask={() => setNew(true)} count={{ found: found.length, of: total }} />
      <div className="stage-body">
        {view === 'members' ? (
          <SidePanel teamId={teamId} isTab />
        ) : total === 0 ? (
          <Empty icon={ListChecks} title={isLed && !isClosed ? 'The lead makes the tasks' : 'No task yet'}>
            <p>
              {isClosed
                ? record
                  ? 'This team had none.'
                  : 'This team was closed without one.'
                : isLed
                  ? 'They come here as it creates them. You can add your own, here or from a terminal:'
                  : 'Create one here, or from a terminal:'}
            </p>
            {!isClosed && (
              <>
                <button type="button" className="button primary" onClick={() => setNew(true)}>
                  Create a task
                </button>
                <Command text={`troupe task add "Write the parser" --team ${teamId}`} />
              </>
            )}
          </Empty>
        ) : isFiltered && found.length === 0 ? (
          <Empty icon={SearchX} title="No task matches the filter">
            <p className="quiet">{describe(filter)}</p>
            <button type="button" className="button" onClick={clear}>
              Clear the filter
            </button>
          </Empty>
        ) : (
          <View view={view} teamId={teamId} taskId={taskId} found={found} filter={filter} isFiltered={isFiltered} />
        )}
      </div>
      {(view === 'board' || view === 'list') && <BulkBar />}
      <NewTask teamId={teamId} isOpen={isNew} onClose={() => setNew(false)} />
    </section>
  );
}

function View({
  view,
  teamId,
  taskId,
  found,
  filter,
  isFiltered,
}: {
  view: TeamViewName;
  teamId: string;
  taskId: string | undefined;
  found: ReturnType<typeof useFound>;
  filter: Filter;
  isFiltered: boolean;
}) {
  if (view === 'board') return <Board teamId={teamId} tasks={found} />;
  if (view === 'list') return <TaskList teamId={teamId} tasks={found} />;
  return (
    <Suspense fallback={null}>
      <Graph
        teamId={teamId}
        taskId={taskId}
        found={isFiltered ? found : undefined}
        filterKey={isFiltered ? JSON.stringify(filter) : ''}
      />
    </Suspense>
  );
}

function describe({ text, member, status }: Filter): string {
  const phase = status && `that is ${PHASE_WORDS[status].toLowerCase()}`;
  return [text && `“${showControls(text)}”`, member && `of ${member}`, phase].filter(Boolean).join(', ');
}

/** A skeleton of the layout. It appears after a delay, so that a team that loads at once does not flicker. */
function TeamSkeleton() {
  const { done, of } = useTeam(
    ({ progress }) => progress,
    (a, b) => a.done === b.done && a.of === b.of,
  );
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  if (!isLate) return <main className="team" id="main" aria-busy />;
  return (
    <main className="team" id="main" aria-busy>
      <header className="team-head">
        <span className="skeleton" style={{ width: 140, height: 24 }} />
        <span className="skeleton" style={{ width: 360, height: 8 }} />
        <span className="meta" role="status">
          {of > 0 ? `Reading ${done.toLocaleString('en-US')} of ${of.toLocaleString('en-US')}` : 'Reading the team'}
        </span>
      </header>
      <section className="stage">
        <div className="toolbar">
          <span className="skeleton" style={{ width: 220, height: 34 }} />
          <span className="skeleton" style={{ width: 220, height: 34 }} />
        </div>
        <div className="stage-body skeleton-grid">
          {Array.from({ length: 12 }, (_, i) => (
            <span key={i} className="skeleton" style={{ width: 212, height: 60 }} />
          ))}
        </div>
      </section>
      <aside className="side">
        {Array.from({ length: 5 }, (_, i) => (
          <span key={i} className="skeleton" style={{ height: 64, margin: '12px 16px' }} />
        ))}
      </aside>
      <footer className="time-line" />
    </main>
  );
}

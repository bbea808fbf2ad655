import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { isPerson } from '../../src/client/replica.ts';
import type { Usage } from '../../src/core/usage.ts';
import { daemonNow } from '../data/clock.ts';
import { teamPath } from '../data/route.ts';
import { useStore, useTeam } from '../data/use-team.tsx';
import { showControls } from '../parts/controls.ts';
import {
  costOrUntold,
  plural,
  showCost,
  showCount,
  showExactCost,
  showSpan,
  tokensOf,
  tokensOrUntold,
  usedParts,
  useNow,
} from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { CENT, Plot } from '../parts/plot.tsx';
import { Reading } from '../parts/reading.tsx';
import { FailedTeam } from '../team/failed-team.tsx';
import { Bars } from './bars.tsx';
import { measure, tasksPerHour } from './measure.ts';
import { Pairs } from './pairs.tsx';
import './numbers.css';

const TASKS_SHOWN = 12;
/** How old figures that only grow with time may be: each update reads the whole history. */
const STEP_MS = 10_000;

/** A team in figures: speed, working time, cost, and who writes to whom. */
export function NumbersPage({ teamId }: { teamId: string }) {
  const store = useStore();
  const phase = useTeam(({ phase }) => phase);
  const seq = useTeam(({ progress }) => progress.done);
  const isWhole = useTeam(({ isWhole }) => isWhole);
  const { state, team, members, byId, counts } = useTeam(({ view }) => view);
  const step = useNow(STEP_MS);
  const figures = useMemo(
    () =>
      measure(
        store.history,
        state.requests.values(),
        team?.closedAt?.getTime() ?? Math.max(daemonNow(), store.history.at(-1)?.events[0]?.at ?? 0),
      ),
    [seq, isWhole, team, team?.closedAt === undefined && step],
  );
  if (phase === 'failed') return <FailedTeam />;
  if (phase === 'loading') return <main id="main" aria-busy />;
  if (!isWhole) {
    return (
      <main className="page" id="main" tabIndex={-1} aria-busy>
        <PageHead teamId={teamId} />
        <Reading what="the history" />
      </main>
    );
  }
  const { times, created, done, tokens, cost, spent, pairs } = figures;
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const total = done.at(-1) ?? 0;
  const rate = tasksPerHour(total, span);
  const tokensUsed = tokens.at(-1) ?? 0;
  const spentUsd = cost.at(-1) ?? 0;
  const aTask = (share: (done: number) => string): string =>
    total > 0 ? `${share(total)} a task` : 'no task is completed yet';
  const used = [...figures.members]
    .filter(([, usage]) => isTold(usage))
    .sort(([, a], [, b]) => tokensOf(b) - tokensOf(a));
  const expensive = [...figures.tasks]
    .filter(([, usage]) => isTold(usage))
    .sort(([, a], [, b]) => b.costUsd - a.costUsd || tokensOf(b) - tokensOf(a))
    .slice(0, TASKS_SHOWN);
  // Waiting time makes no sense for a person, or for a lead, which works without a task.
  const waiters = new Set(
    members.filter((member) => !isPerson(member) && member.id !== team?.leadId).map(({ id }) => id),
  );
  const colors = new Map(members.map(({ id, color }) => [id, color]));
  return (
    <main className="page" id="main" tabIndex={-1}>
      <PageHead teamId={teamId} />
      <div className="numbers">
        <Figure
          name="Completed"
          value={String(total)}
          note={`of ${plural(counts.pending + counts.blocked + counts.in_progress + counts.gate + counts.failed + counts.completed, 'task')}`}
        />
        {rate === undefined ? (
          <Figure name="Time" value={showSpan(span)} note={`${plural(total, 'task')} completed`} />
        ) : (
          <Figure name="Throughput" value={rate.toFixed(1)} note="tasks an hour" />
        )}
        <Figure
          name="Tokens"
          value={tokensOrUntold(tokensUsed)}
          note={tokensUsed > 0 ? aTask((done) => showCount(Math.round(tokensUsed / done))) : 'none reported'}
        />
        <Figure
          name="Cost"
          value={costOrUntold(spentUsd)}
          exact={spentUsd > 0 ? showExactCost(spentUsd) : undefined}
          note={spentUsd > 0 ? aTask((done) => showCost(spentUsd / done)) : 'none reported'}
        />

        <Panel
          title="Tasks completed and created"
          wide
          note={
            <Legend
              entries={[
                ['completed', '--done-mark'],
                ['created', '--pending-mark'],
              ]}
            />
          }
        >
          <Plot
            times={times}
            values={[done, created]}
            lines={[
              { label: 'completed', color: '--done-mark', isStep: true, isFilled: true },
              { label: 'created', color: '--pending-mark', isStep: true },
            ]}
            label={`${total} of ${created.at(-1) ?? 0} tasks completed over ${showSpan(span)}`}
          />
        </Panel>
        <Panel title="Cost over time" wide>
          {spentUsd > 0 ? (
            <Plot
              times={times}
              values={[cost]}
              lines={[
                { label: 'cost', color: '--run-mark', show: showCost, least: CENT, isStep: true, isFilled: true },
              ]}
              label={`${showCost(spentUsd)} over ${showSpan(span)}`}
            />
          ) : (
            <p className="quiet">No agent of this team has reported a cost.</p>
          )}
        </Panel>

        <Panel
          title="Working and waiting"
          note={
            <Legend
              entries={[
                ['working', '--run-mark'],
                ['waiting', '--line'],
              ]}
            />
          }
        >
          <Bars
            rows={[...spent]
              .filter(([id, { working }]) => working > 0 || waiters.has(id))
              .sort(([, a], [, b]) => b.working - a.working)
              .map(([id, { working, waiting }]) => ({
                key: id,
                label: id,
                color: colors.get(id),
                href: teamPath(teamId, `/m/${id}`),
                parts: [
                  { size: working, color: 'var(--run-mark)' },
                  { size: waiting, color: 'var(--line)' },
                ],
                text: `${showSpan(working)} of ${showSpan(working + waiting)}`,
              }))}
          />
        </Panel>
        <Panel title="Tokens and cost by member">
          <Bars
            rows={used.map(([id, usage]) => ({
              key: id,
              label: id,
              color: colors.get(id),
              href: teamPath(teamId, `/m/${id}`),
              parts: [{ size: tokensOf(usage), color: 'var(--accent)' }],
              text: usedParts(usage, '').join(' · '),
            }))}
          />
        </Panel>
        <Panel
          title="Tokens and cost by task"
          note={expensive.length === TASKS_SHOWN ? `the ${TASKS_SHOWN} most expensive` : undefined}
        >
          <Bars
            rows={expensive.map(([id, usage]) => ({
              key: id,
              label: `#${id} ${showControls(byId.get(id)?.task.title ?? '')}`,
              href: teamPath(teamId, `/task/${id}`),
              parts: [{ size: tokensOf(usage), color: 'var(--accent)' }],
              text: usedParts(usage, '').join(' · '),
            }))}
          />
        </Panel>
        <Panel title="Messages by pair" note="from the row to the column">
          <Pairs pairs={pairs} />
        </Panel>
      </div>
    </main>
  );
}

function PageHead({ teamId }: { teamId: string }) {
  return (
    <div className="page-head">
      <h1>Numbers</h1>
      <Link className="meta" href={teamPath(teamId)}>
        {teamId}
      </Link>
    </div>
  );
}

/** Whether there is a figure: a turn without reported usage has none. */
function isTold(usage: Usage): boolean {
  return usage.costUsd > 0 || tokensOf(usage) > 0;
}

function Figure({
  name,
  value,
  exact,
  note,
}: {
  name: string;
  value: string;
  exact?: string | undefined;
  note: string;
}) {
  return (
    <section className="figure">
      <h2>{name}</h2>
      <b title={exact}>{value}</b>
      <span className="meta">{note}</span>
    </section>
  );
}

function Panel({
  title,
  note,
  wide = false,
  children,
}: {
  title: string;
  note?: ReactNode;
  wide?: boolean;
  children: ReactNode;
}) {
  return (
    <section className={`number-panel${wide ? ' wide' : ''}`} aria-label={title}>
      <h2>
        {title} <span className="spacer" /> <span className="meta">{note}</span>
      </h2>
      {children}
    </section>
  );
}

function Legend({ entries }: { entries: readonly (readonly [string, string])[] }) {
  return (
    <span className="number-legend">
      {entries.map(([label, color]) => (
        <span key={label}>
          <i style={{ background: `var(${color})` }} /> {label}
        </span>
      ))}
    </span>
  );
}

import type { Account } from '../core/account.ts';
import { TeamError } from '../core/errors.ts';
import { residentBytes } from './memory.ts';
import { Metrics } from './metrics.ts';
import type { Append } from './observed-journal.ts';
import type { Tally } from './totals.ts';

/** From a commit in memory to one that waits for a slow disk, in seconds. */
const COMMIT_BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** From work that nobody judges to gates of an hour, in seconds. */
const LANDING_BOUNDS = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600];

/** Where numbers come from that are not counted here. */
export interface Sources {
  readonly version: string;
  readonly journal: { readonly kind: string; readonly durability: string };
  tally(): Tally;
  /** The server's counters: open connections, requests without a valid credential, clients that did not read. */
  readonly server: { readonly connections: number; readonly rejected: number; readonly cut: number };
  loopLagMs(): number;
  isDegraded(): boolean;
}

/**
 * How a landing ended. `asked`: the gates accepted it, and somebody has to approve it; a yes counts as `landed`.
 * `conflicted`: a work does not merge, and went back before a landing began.
 */
export type LandingOutcome = 'landed' | 'asked' | 'red' | 'split' | 'dropped' | 'conflicted';

/** Everything that the daemon measures about itself. */
export interface Instruments {
  /** An operation ended with `ok` or an error code. */
  called(operation: string, code: string): void;
  appended(append: Append): void;
  /** A landing was over, or a work conflicted before one. */
  landing(outcome: LandingOutcome): void;
  /** A work landed so many seconds after it was first handed in. */
  landed(seconds: number): void;
  /** Shows the limits of these accounts, which are read at each scrape. */
  accounts(list: () => readonly Account[]): void;
  /** All metrics in Prometheus' format. */
  expose(): string;
}

/** Sets up the daemon's metrics. */
export function createInstruments(sources: Sources): Instruments {
  const metrics = new Metrics();
  const { version, journal, server } = sources;
  metrics.gauge({ name: 'troupe_info', help: 'What runs.', labels: ['version'] }, () => [[[version], 1]]);
  metrics.gauge(
    { name: 'troupe_journal_info', help: 'The journal and its durability.', labels: ['kind', 'durability'] },
    () => [[[journal.kind, journal.durability], 1]],
  );
  metrics.gauge({ name: 'troupe_degraded', help: 'Whether something does not work.' }, () =>
    Number(sources.isDegraded()),
  );
  metrics.gauge({ name: 'troupe_teams', help: 'Teams ever created.' }, () => sources.tally().teams);
  metrics.gauge({ name: 'troupe_active_teams', help: 'Teams that are not closed.' }, () => sources.tally().activeTeams);
  metrics.gauge({ name: 'troupe_teammates', help: 'Teammates ever added.' }, () => sources.tally().teammates);
  metrics.gauge({ name: 'troupe_messages', help: 'Messages ever sent.' }, () => sources.tally().messages);
  metrics.gauge({ name: 'troupe_tasks', help: 'Tasks by status.', labels: ['status'] }, () => {
    const { pending, in_progress, completed, failed } = sources.tally();
    return Object.entries({ pending, in_progress, completed, failed }).map(([status, count]) => [[status], count]);
  });
  metrics.gauge({ name: 'troupe_merge_queue', help: 'Works that wait to land.' }, () => sources.tally().queued);
  metrics.gauge({ name: 'troupe_connections', help: 'Open connections of clients.' }, () => server.connections);
  metrics.total(
    { name: 'troupe_rejected_total', help: 'Requests without a valid credential, Host or Origin.' },
    () => server.rejected,
  );
  metrics.total(
    { name: 'troupe_cut_total', help: 'Clients disconnected because they did not read.' },
    () => server.cut,
  );
  metrics.gauge(
    { name: 'troupe_event_loop_lag_seconds', help: 'The longest lag of the last second.' },
    () => sources.loopLagMs() / 1000,
  );
  metrics.gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory.' }, () => residentBytes());
  metrics.gauge(
    { name: 'process_start_time_seconds', help: 'When the process started, since 1970.' },
    () => performance.timeOrigin / 1000,
  );

  const calls = metrics.counter({
    name: 'troupe_calls_total',
    help: 'Finished calls of operations.',
    labels: ['operation', 'code'],
  });
  const commits = metrics.counter({
    name: 'troupe_commits_total',
    help: 'Appends to the journal.',
    labels: ['outcome'],
  });
  const claims = metrics.counter({ name: 'troupe_claims_total', help: 'Tasks claimed.' });
  const seconds = metrics.histogram({
    name: 'troupe_commit_seconds',
    help: 'Time until an append is durable.',
    bounds: COMMIT_BOUNDS,
  });

  const landings = metrics.counter({
    name: 'troupe_landings_total',
    help: 'Landings that this daemon made.',
    labels: ['outcome'],
  });
  const landingSeconds = metrics.histogram({
    name: 'troupe_landing_seconds',
    help: 'Time from the first hand-in of a work to its landing.',
    bounds: LANDING_BOUNDS,
  });

  return {
    accounts(list) {
      metrics.gauge(
        {
          name: 'troupe_account_used',
          help: 'The used share of each window of each account.',
          labels: ['account', 'window'],
        },
        () => list().flatMap(({ id, windows }) => windows.map(({ name, used }) => [[id, name], used] as const)),
      );
      metrics.gauge(
        { name: 'troupe_account_limited', help: 'Accounts that cannot be used now.', labels: ['account', 'cause'] },
        () => list().flatMap(({ id, limit }) => (limit ? [[[id, limit.cause], 1] as const] : [])),
      );
    },
    landing: (outcome) => landings.add(1, outcome),
    landed: (seconds) => landingSeconds.observe(seconds),
    called: (operation, code) => calls.add(1, operation, code),
    appended({ events, ms, error }) {
      if (error !== undefined) {
        commits.add(1, error instanceof TeamError ? error.code : 'internal');
        return;
      }
      commits.add(1, 'ok');
      seconds.observe(ms / 1000);
      claims.add(events.filter(({ type }) => type === 'task:claimed').length);
    },
    expose: () => metrics.expose(),
  };
}

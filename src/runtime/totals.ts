import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { TeamState } from '../core/state.ts';
import type { Journal } from '../journal/journal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openState } from '../ledger/open-state.ts';
import { replacePrivateFile } from './private-file.ts';

const count = z.number().int().nonnegative().default(0);

/** The counts of one team, or of all together. */
const Tally = z.object({
  teams: count,
  activeTeams: count,
  teammates: count,
  messages: count,
  pending: count,
  in_progress: count,
  completed: count,
  failed: count,
  completions: count,
  queued: count,
});
export type Tally = z.output<typeof Tally>;

const NONE = Tally.parse({});
const KEYS = Object.keys(NONE) as (keyof Tally)[];

/** Counts over all teams, including deleted ones. */
export interface Totals {
  now(): Tally;
  /** Starts counting: the existing teams, and then every batch. */
  follow(ledger: Ledger): void;
  /** Resolves when the teams of the start are counted, or after `PATIENCE_MS`. */
  ready(): Promise<void>;
  /** In the words of the daemon's status. */
  report(): TotalsReport;
  /** Counts a team that is about to be removed. */
  beforeDrop(team: string): Promise<void>;
  /** Keeps the counts of a deleted team. */
  afterDrop(team: string): void;
  close(): void;
}

/** Totals in the words of the daemon's status. */
export interface TotalsReport {
  readonly activeTeams: number;
  readonly teamMetrics: {
    readonly totalTeamsCreated: number;
    readonly totalTeammatesSpawned: number;
    readonly totalTeamTasksCompleted: number;
    readonly totalTeamMessages: number;
  };
  /** Not all teams are counted yet. */
  readonly counting: boolean;
}

/** How long a caller waits for the first count. */
const PATIENCE_MS = 2_000;

/** The source of the totals, and the file for deleted teams. */
export interface TotalsOptions {
  readonly journal: Journal;
  readonly path: string;
  /** Gets the error of a team that cannot be counted. */
  readonly onError: (error: unknown, team?: string) => void;
}

/**
 * Counts the journal in the background, one team after another without keeping them, and then with every batch. Each
 * number is ready in a team's state, so a batch costs the same whatever the team's size.
 */
export function countTotals({ journal, path, onError }: TotalsOptions): Totals {
  const deleted = readTally(path);
  const byTeam = new Map<string, Tally>();
  const sum: Tally = { ...deleted };
  let isComplete = false;
  let isClosed = false;
  let unsubscribe = (): void => {};
  let counted: Promise<void> | undefined;

  function put(team: string, tally: Tally | undefined): void {
    const before = byTeam.get(team) ?? NONE;
    const after = tally ?? NONE;
    for (const key of KEYS) sum[key] += after[key] - before[key];
    if (tally) byTeam.set(team, tally);
    else byTeam.delete(team);
  }

  async function countTeam(team: string): Promise<void> {
    if (byTeam.has(team)) return;
    try {
      const { state } = await openState(journal, team);
      // A batch in the meantime has brought newer numbers.
      if (!byTeam.has(team)) put(team, tallyOf(state));
    } catch (error) {
      if (!isClosed) onError(error, team);
    }
  }

  async function countAll(): Promise<void> {
    for (const team of await journal.teams()) {
      await nextTurn();
      if (isClosed) return;
      await countTeam(team);
    }
    isComplete = true;
  }

  return {
    now: () => sum,
    follow(ledger) {
      unsubscribe = ledger.subscribe((team, _batch, state) => put(team, tallyOf(state)));
      counted = countAll().catch((error: unknown) => {
        if (!isClosed) onError(error);
      });
    },
    async ready() {
      if (isComplete) return;
      const patience = new AbortController();
      await Promise.race([counted, sleep(PATIENCE_MS, undefined, { signal: patience.signal }).catch(() => {})]);
      patience.abort();
    },
    report: () => ({
      activeTeams: sum.activeTeams,
      teamMetrics: {
        totalTeamsCreated: sum.teams,
        totalTeammatesSpawned: sum.teammates,
        totalTeamTasksCompleted: sum.completions,
        totalTeamMessages: sum.messages,
      },
      counting: !isComplete,
    }),
    beforeDrop: countTeam,
    afterDrop(team) {
      const tally = byTeam.get(team);
      if (!tally) return;
      put(team, undefined);
      for (const key of ['teams', 'teammates', 'messages', 'completed', 'completions'] as const) {
        deleted[key] += tally[key];
        sum[key] += tally[key];
      }
      try {
        replacePrivateFile(path, `${JSON.stringify(deleted)}\n`);
      } catch (error) {
        onError(error, team);
      }
    },
    close() {
      isClosed = true;
      unsubscribe();
    },
  };
}

function tallyOf({ team, members, messages, completions, index: { counts } }: TeamState): Tally | undefined {
  if (!team) return undefined;
  const { pending, in_progress, completed, failed } = counts;
  return {
    teams: 1,
    activeTeams: team.status === 'cleaned-up' ? 0 : 1,
    // All but the lead.
    teammates: Math.max(0, members.size - 1),
    messages: messages.size,
    pending,
    in_progress,
    completed,
    failed,
    completions,
    // A closed team lands nothing more.
    queued: team.status === 'cleaned-up' ? 0 : (team.work?.queue?.length ?? 0),
  };
}

/** An unreadable file counts as zero: these numbers are for people, and the journal has those that matter. */
function readTally(path: string): Tally {
  try {
    return Tally.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return { ...NONE };
  }
}

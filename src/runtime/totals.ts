import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { TeamState } from '../core/state.ts';
import type { Journal } from '../journal/journal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openState } from '../ledger/open-state.ts';
import { replacePrivateFile } from './private-file.ts';

const count = z.number().int().nonnegative().default(0);

/** What one team, or all of them together, came to. */
const Tally = z.object({
  teams: count,
  activeTeams: count,
  teammates: count,
  messages: count,
  pending: count,
  in_progress: count,
  completed: count,
  failed: count,
});
export type Tally = z.output<typeof Tally>;

const NONE = Tally.parse({});
const KEYS = Object.keys(NONE) as (keyof Tally)[];

/** Numbers over all teams, those that were deleted included. */
export interface Totals {
  now(): Tally;
  /** Begins to count: the teams there are, and from then on what is written. */
  follow(ledger: Ledger): void;
  /** Resolves when the teams that were there at the start are counted, or after a moment. */
  ready(): Promise<void>;
  /** The words that the daemon's status has for it. */
  report(): TotalsReport;
  /** Counts a team that is about to go. */
  beforeDrop(team: string): Promise<void>;
  /** Keeps what a deleted team had come to. */
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

/** How long somebody who asks waits for the first count. */
const PATIENCE_MS = 2_000;

/** What totals are counted from, and where those of deleted teams are kept. */
export interface TotalsOptions {
  readonly journal: Journal;
  readonly path: string;
  /** Hears of a team that cannot be counted. */
  readonly onError: (error: unknown, team?: string) => void;
}

/**
 * Counts in the background what the journal holds, one team after the other and without keeping them, and from then on with
 * every batch. Each number is at hand in a team's state, so a batch costs the same whatever the team's size.
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
      // A batch that came meanwhile has brought newer numbers.
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
        totalTeamTasksCompleted: sum.completed,
        totalTeamMessages: sum.messages,
      },
      counting: !isComplete,
    }),
    beforeDrop: countTeam,
    afterDrop(team) {
      const tally = byTeam.get(team);
      if (!tally) return;
      put(team, undefined);
      for (const key of ['teams', 'teammates', 'messages', 'completed'] as const) {
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

function tallyOf({ team, members, messages, index: { counts } }: TeamState): Tally | undefined {
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
  };
}

/** A file that cannot be read counts for nothing: these are numbers for people, and the journal has those that matter. */
function readTally(path: string): Tally {
  try {
    return Tally.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return { ...NONE };
  }
}

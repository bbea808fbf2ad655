import { SYSTEM } from '../../core/actor.ts';
import { isApart } from '../../core/folder.ts';
import { PATHS_PER_OVERLAP } from '../../core/limits.ts';
import { overlapKey } from '../../core/overlap-view.ts';
import type { OverlapSide, WorkOverlap } from '../../core/overlap.ts';
import { isSame } from '../../core/rules/overlap.ts';
import type { TeamState } from '../../core/state.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Depot } from '../../workspaces/depot.ts';
import type { Saved } from '../../workspaces/workspace.ts';
import { isOpen } from './held.ts';
import type { Worker } from './held.ts';

/** Compares the saves of members that work, and tells them where they change the same files. */
export interface Overlaps {
  /** Takes note of a save, and compares it with the others soon. */
  saved(worker: Worker, saved: Saved): void;
  /** The folder of a member was brought to the branch: its last save says no longer what it changes. */
  drop(worker: Worker): void;
  forget(teamId: string): void;
  close(): Promise<void>;
}

/** What `openOverlaps` needs. */
export interface OverlapsOptions {
  readonly ledger: Ledger;
  readonly placeOf: (teamId: string) => Promise<{ readonly depot: Pick<Depot, 'conflicts'> } | undefined>;
  /** Whether a member works on this machine: only its saves are here. */
  readonly isHere: (state: TeamState, memberId: string) => boolean;
  readonly onError: (error: unknown, about: { teamId: string }) => void;
}

/** The last save of a member, and the paths in which it differs from its base. */
export interface SavedPaths {
  readonly commit: string;
  readonly paths: ReadonlySet<string>;
}

interface TeamSaves {
  readonly saves: Map<string, SavedPaths>;
  /** What came out of the last merge of each pair. */
  merged: Map<string, Merge>;
  timer: NodeJS.Timeout | undefined;
  running: Promise<void> | undefined;
  isDue: boolean;
  /** Milliseconds to wait for further saves. */
  pause: number;
}

interface Merge {
  readonly commits: string;
  readonly conflicts: ReadonlySet<string>;
}

/** All members are saved one after the other, so one comparison is for all of them. */
const PAUSE_MS = 250;

/** With pauses of this many times its length, comparing takes a tenth of a processor at most. */
const PAUSES = 9;

/** A merge takes 4 ms of a processor. Of 32 members in one file there are 496; what is left comes in the next pass. */
const MERGES_PER_PASS = 64;

/** More changed files than this are the work of a program; comparing all of them would take seconds. */
const PATHS_COMPARED = 10_000;

/** Compares nothing before the first save. */
export function openOverlaps({ ledger, placeOf, isHere, onError }: OverlapsOptions): Overlaps {
  const teams = new Map<string, TeamSaves>();
  const closing = new AbortController();

  return {
    saved({ teamId, memberId }, { commit, changes }) {
      const team = teamOf(teamId);
      if (team.saves.get(memberId)?.commit === commit) return;
      const paths = changes
        .slice(0, PATHS_COMPARED)
        .flatMap(({ path, from }) => (from === undefined ? path : [path, from]));
      team.saves.set(memberId, { commit, paths: new Set(paths) });
      schedule(teamId, team);
    },
    drop: ({ teamId, memberId }) => void teams.get(teamId)?.saves.delete(memberId),
    forget(teamId) {
      clearTimeout(teams.get(teamId)?.timer);
      teams.delete(teamId);
    },
    async close() {
      closing.abort();
      for (const { timer } of teams.values()) clearTimeout(timer);
      for (const { running } of teams.values()) await running;
    },
  };

  function teamOf(teamId: string): TeamSaves {
    const known = teams.get(teamId);
    if (known) return known;
    const fresh: TeamSaves = {
      saves: new Map(),
      merged: new Map(),
      timer: undefined,
      running: undefined,
      isDue: false,
      pause: PAUSE_MS,
    };
    teams.set(teamId, fresh);
    return fresh;
  }

  function schedule(teamId: string, team: TeamSaves): void {
    team.isDue = true;
    if (closing.signal.aborted || team.timer || team.running) return;
    team.timer = setTimeout(() => {
      team.timer = undefined;
      team.isDue = false;
      team.running = compareTeam(teamId, team);
    }, team.pause).unref();
  }

  async function compareTeam(teamId: string, team: TeamSaves): Promise<void> {
    const began = performance.now();
    try {
      if (await compare(teamId, team)) team.isDue = true;
    } catch (error) {
      if (!closing.signal.aborted) onError(error, { teamId });
    }
    team.pause = Math.max(PAUSE_MS, PAUSES * (performance.now() - began));
    team.running = undefined;
    if (team.isDue && teams.get(teamId) === team) schedule(teamId, team);
  }

  /** Returns whether something is left to merge. */
  async function compare(teamId: string, team: TeamSaves): Promise<boolean> {
    const { sides, known } = await ledger.view(teamId, (state) => lookAt(state, team.saves, isHere));
    // The last saves of those that do not work are of no use, and a daemon may see many teams.
    const working = new Set(sides.map(({ memberId }) => memberId));
    for (const memberId of team.saves.keys()) if (!working.has(memberId)) team.saves.delete(memberId);
    if (sides.length < 2) return false;
    const place = await placeOf(teamId);
    if (!place) return false;
    const { found, met, merged, isLeft } = await compareSaves(place.depot, { ...team, sides }, closing.signal);
    team.merged = merged;
    const over = [...known.values()]
      .filter((one) => !met.has(overlapKey(one.sides)))
      .map(({ sides }) => ({ sides, files: 0, paths: [], conflicts: [] }));
    for (const overlap of [...found, ...over]) {
      const before = known.get(overlapKey(overlap.sides));
      if (before && isSame(before, overlap)) continue;
      await ledger.execute(teamId, { type: 'work.overlap', by: SYSTEM, ...overlap }, () => undefined);
    }
    return isLeft;
  }
}

/** What a comparison of all saves found. */
interface Compared {
  readonly found: readonly WorkOverlap[];
  /** The pairs that changed the same path, also those that are not merged yet. */
  readonly met: ReadonlySet<string>;
  readonly merged: Map<string, Merge>;
  readonly isLeft: boolean;
}

/** Finds the pairs of members that changed the same files, and merges them to find out whether they conflict. */
export async function compareSaves(
  depot: Pick<Depot, 'conflicts'>,
  {
    sides,
    saves,
    merged: before,
  }: Pick<TeamSaves, 'merged'> & { sides: readonly OverlapSide[]; saves: ReadonlyMap<string, SavedPaths> },
  signal?: AbortSignal,
): Promise<Compared> {
  const pairs = findPairs(sides, saves);
  const { merges, isLeft } = await mergePairs(depot, pairs, before, signal);
  return {
    found: pairs.flatMap((pair) => describe(pair, merges.get(overlapKey(pair.sides)))),
    met: new Set(pairs.map((pair) => overlapKey(pair.sides))),
    merged: merges,
    isLeft,
  };
}

/** Two members at work, their saves, and the paths that both changed. */
interface Pair {
  readonly sides: WorkOverlap['sides'];
  readonly commits: readonly [string, string];
  readonly shared: readonly string[];
}

/** The members at work whose saves are known, by the numbers of their tasks, and what the team knows about them. */
function lookAt(
  state: TeamState,
  saves: ReadonlyMap<string, SavedPaths>,
  isHere: OverlapsOptions['isHere'],
): { sides: OverlapSide[]; known: Map<string, WorkOverlap> } {
  const sides = new Map<string, OverlapSide>();
  for (const { id, status, assigneeId = '', epoch, work } of isOpen(state) ? state.tasks.values() : []) {
    const isKnown =
      status === 'in_progress' && work?.aside === undefined && saves.has(assigneeId) && !sides.has(assigneeId);
    if (!isKnown || !isApart(state, assigneeId) || !isHere(state, assigneeId)) continue;
    sides.set(assigneeId, { memberId: assigneeId, taskId: id, epoch });
  }
  const isCompared = ({ memberId, taskId }: OverlapSide): boolean => sides.get(memberId)?.taskId === taskId;
  const known = [...state.overlaps].filter(([, overlap]) => overlap.sides.every(isCompared));
  const ordered = [...sides.values()].sort((a, b) => Number(a.taskId) - Number(b.taskId));
  return { sides: ordered, known: new Map(known) };
}

/** The pairs of members that changed the same path. Others cannot conflict, so they need no merge. */
function findPairs(sides: readonly OverlapSide[], saves: ReadonlyMap<string, SavedPaths>): Pair[] {
  const byPath = new Map<string, number[]>();
  for (const [i, { memberId }] of sides.entries()) {
    for (const path of saves.get(memberId)?.paths ?? []) {
      const those = byPath.get(path);
      if (those) those.push(i);
      else byPath.set(path, [i]);
    }
  }
  const shared = new Map<number, string[]>();
  for (const [path, those] of byPath) {
    for (const [at, i] of those.entries()) {
      for (const j of those.slice(at + 1)) {
        const paths = shared.get(i * sides.length + j);
        if (paths) paths.push(path);
        else shared.set(i * sides.length + j, [path]);
      }
    }
  }
  return [...shared].map(([number, paths]) => {
    const one = sides[Math.floor(number / sides.length)] as OverlapSide;
    const other = sides[number % sides.length] as OverlapSide;
    const commitOf = ({ memberId }: OverlapSide): string => saves.get(memberId)?.commit ?? '';
    return { sides: [one, other], commits: [commitOf(one), commitOf(other)], shared: paths.sort() };
  });
}

/** Merges pairs in memory, one after the other, if one of them changed since the last time. */
async function mergePairs(
  depot: Pick<Depot, 'conflicts'>,
  pairs: readonly Pair[],
  merged: ReadonlyMap<string, Merge>,
  signal: AbortSignal | undefined,
): Promise<{ merges: Map<string, Merge>; isLeft: boolean }> {
  const merges = new Map<string, Merge>();
  const changed: Pair[] = [];
  for (const pair of pairs) {
    const before = merged.get(overlapKey(pair.sides));
    if (before) merges.set(overlapKey(pair.sides), before);
    if (before?.commits !== pair.commits.join()) changed.push(pair);
  }
  // Those that were never merged come first: nobody knows about them yet.
  changed.sort((a, b) => Number(merges.has(overlapKey(a.sides))) - Number(merges.has(overlapKey(b.sides))));
  const due = changed.slice(0, MERGES_PER_PASS);
  const found = await depot.conflicts(
    due.map(({ commits }) => commits),
    signal,
  );
  for (const [i, { sides, commits }] of due.entries()) {
    merges.set(overlapKey(sides), { commits: commits.join(), conflicts: new Set(found[i]) });
  }
  return { merges, isLeft: changed.length > MERGES_PER_PASS };
}

/** Of many paths those that conflict are named first. */
function describe({ sides, shared }: Pair, merge: Merge | undefined): WorkOverlap[] {
  if (!merge) return [];
  const conflicts = shared.filter((path) => merge.conflicts.has(path)).slice(0, PATHS_PER_OVERLAP);
  const paths = [...new Set([...conflicts, ...shared])].slice(0, PATHS_PER_OVERLAP).sort();
  return [{ sides, files: shared.length, paths, conflicts }];
}

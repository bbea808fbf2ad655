import type { WorkOverlap } from './overlap.ts';
import type { TeamState } from './state.ts';

/* Apart from `overlap.ts`, because the dashboard and the command line load this, and need no schemas. */

/** The key of a pair of tasks. */
export function overlapKey([one, other]: WorkOverlap['sides']): string {
  return `${one.taskId}-${other.taskId}`;
}

/** The overlaps of a team, or of one member, by the numbers of the tasks. Pairs that no longer meet are left out. */
export function overlapsOf({ overlaps }: TeamState, memberId?: string): WorkOverlap[] {
  return [...overlaps.values()]
    .filter(
      ({ files, sides }) => files > 0 && (memberId === undefined || sides.some((one) => one.memberId === memberId)),
    )
    .sort((a, b) => compare(a, b, 0) || compare(a, b, 1))
    .map(({ sides, files, paths, conflicts }) => ({ sides, files, paths, conflicts }));
}

function compare(a: WorkOverlap, b: WorkOverlap, side: 0 | 1): number {
  return Number(a.sides[side].taskId) - Number(b.sides[side].taskId);
}

/** Who changed a file that others changed, too. */
export interface OverlapRow {
  readonly path: string;
  readonly members: readonly string[];
  /** Those whose changes of it do not merge with those of another one. */
  readonly conflicting: readonly string[];
}

/** Overlaps as files by members: those that conflict first, then those of most members. */
export function overlapRows(overlaps: readonly WorkOverlap[]): OverlapRow[] {
  const rows = new Map<string, { members: Set<string>; conflicting: Set<string> }>();
  for (const { sides, paths, conflicts } of overlaps) {
    for (const path of paths) {
      const row = rows.get(path) ?? { members: new Set(), conflicting: new Set() };
      rows.set(path, row);
      for (const { memberId } of sides) {
        row.members.add(memberId);
        if (conflicts.includes(path)) row.conflicting.add(memberId);
      }
    }
  }
  return [...rows]
    .map(([path, { members, conflicting }]) => ({ path, members: [...members], conflicting: [...conflicting] }))
    .sort(
      (a, b) =>
        b.conflicting.length - a.conflicting.length ||
        b.members.length - a.members.length ||
        (a.path < b.path ? -1 : 1),
    );
}

import { useMemo, useRef } from 'react';
import { useTeam } from '../../data/use-team.tsx';
import type { Places } from './arrange.ts';
import { countSlots, groupsOf, itemsOf, knotsOf, linesOf, slotOf } from './items.ts';
import type { Group, Item, Line } from './items.ts';
import { useLayout } from './use-layout.ts';

/** The nodes of the graph and where they are. */
export interface Drawing {
  readonly items: readonly Item[];
  readonly lines: readonly Line[];
  /** The place of each item. */
  readonly spots: Places;
  /** Whether everything is at its place; else the graph is being arranged again. */
  readonly isSettled: boolean;
  /** The node that shows each task. */
  readonly itemOf: ReadonlyMap<string, Item>;
}

const NO_GROUPS: readonly Group[] = [];

/** Folds alike tasks, and places what is left. Positions follow from the structure and from what a person unfolds. */
export function useItems(open: ReadonlySet<string>, shown: string | undefined, isFolding: boolean): Drawing {
  const tasks = useTeam(({ view }) => view.tasks);
  const structure = useTeam(({ view }) => view.structure);
  const critical = useTeam(({ view }) => view.critical.ids);
  const isPast = useTeam(({ moment }) => moment !== undefined);
  // In the past, the groups are those of now, and have the places of now.
  const last = useRef<readonly Group[]>(NO_GROUPS);
  const groups = useMemo(() => {
    if (!isPast || last.current === NO_GROUPS) last.current = groupsOf(tasks, isFolding);
    return last.current;
  }, [structure, isFolding, isPast]);
  const rooms = useRef<{ open: ReadonlySet<string>; groups: readonly Group[]; counts: Map<string, number> }>(undefined);
  const room = isPast && rooms.current?.groups === groups ? rooms.current.counts : undefined;
  const items = useMemo(() => itemsOf(tasks, groups, { open, shown, room }), [tasks, groups, open, shown, room]);
  // A group keeps its places when it needs fewer, so that a new status moves no other node.
  const slots = useMemo(() => {
    const counts = countSlots(items);
    const before = rooms.current;
    if (before?.open === open && before.groups === groups) {
      for (const [id, count] of before.counts) counts.set(id, Math.max(count, counts.get(id) ?? 0));
      if ([...counts].every(([id, count]) => before.counts.get(id) === count)) return before.counts;
    }
    rooms.current = { open, groups, counts };
    return counts;
  }, [items, open, groups]);
  const knots = useMemo(() => knotsOf(tasks, groups, slots), [structure, groups, slots]);
  const { places, isSettled } = useLayout(knots);
  const lines = useMemo(() => linesOf(items, critical), [items, critical]);
  const { spots, itemOf } = useMemo(() => {
    const spots: Record<string, readonly [number, number]> = {};
    const itemOf = new Map<string, Item>();
    const ordered = orderSlots(places, slots);
    for (const item of items) {
      const place = ordered.get(item.slot) ?? places[item.slot];
      if (place) spots[item.id] = place;
      if (item.fold !== 'open') for (const { id } of item.tasks) itemOf.set(id, item);
    }
    return { spots, itemOf };
  }, [items, places, slots]);
  return { items, lines, spots, itemOf, isSettled };
}

/** The layout puts the slots of a group in any order; its nodes stand from top to bottom. */
function orderSlots(places: Places, slots: ReadonlyMap<string, number>): Map<string, readonly [number, number]> {
  const ordered = new Map<string, readonly [number, number]>();
  for (const [group, count] of slots) {
    const found = Array.from({ length: count }, (_, i) => places[slotOf(group, i)]).filter((one) => one !== undefined);
    found.toSorted(([a, b], [c, d]) => b - d || a - c).forEach((place, i) => ordered.set(slotOf(group, i), place));
  }
  return ordered;
}

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

/** The places of each group of a graph, as long as nobody folds or unfolds. */
const kept = new WeakMap<readonly Group[], { open: ReadonlySet<string>; slots: ReadonlyMap<string, number> }>();

/** A group keeps its places when it needs fewer, so that a new status moves no other node. */
function keepSlots(
  items: readonly Item[],
  groups: readonly Group[],
  open: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const slots = countSlots(items);
  const before = kept.get(groups);
  if (before?.open === open) {
    for (const [id, count] of before.slots) slots.set(id, Math.max(count, slots.get(id) ?? 0));
    if ([...slots].every(([id, count]) => before.slots.get(id) === count)) return before.slots;
  }
  kept.set(groups, { open, slots });
  return slots;
}

/** Folds alike tasks, and places what is left. Positions follow from the structure and from what a person unfolds. */
export function useItems(open: ReadonlySet<string>, shown: string | undefined, isFolding: boolean): Drawing {
  const tasks = useTeam(({ view }) => view.tasks);
  const structure = useTeam(({ view }) => view.structure);
  const critical = useTeam(({ view }) => view.critical.ids);
  const isPast = useTeam(({ moment }) => moment !== undefined);
  // In the past, the groups are those of now, and have the places of now.
  const last = useRef<{ groups: readonly Group[]; isFolding: boolean }>(undefined);
  const groups = useMemo(() => {
    if (isPast && last.current?.isFolding === isFolding) return last.current.groups;
    last.current = { groups: groupsOf(tasks, isFolding), isFolding };
    return last.current.groups;
  }, [structure, isFolding, isPast]);
  const before = kept.get(groups);
  const room = isPast && before?.open === open ? before.slots : undefined;
  const items = useMemo(() => itemsOf(tasks, groups, { open, shown, room }), [tasks, groups, open, shown, room]);
  const slots = useMemo(() => keepSlots(items, groups, open), [items, open, groups]);
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

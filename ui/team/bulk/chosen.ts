import { useSyncExternalStore } from 'react';
import { createSignal } from '../../data/signal.ts';
import { record } from '../../record/head.ts';

const NONE: ReadonlySet<string> = new Set();

/** The tasks that are chosen on the board or in the list, for an action on all of them. */
export const chosen = createSignal(NONE);

/** Whether a task is chosen; the component renders again only when that changes. */
export function useIsChosen(id: string): boolean {
  return useSyncExternalStore(chosen.subscribe, () => chosen.get().has(id));
}

/** Chooses tasks, or no longer. Nothing can be done with those of a record. */
export function choose(ids: readonly string[], isChosen: boolean): void {
  if (record) return;
  const next = new Set(chosen.get());
  for (const id of ids) {
    if (isChosen) next.add(id);
    else next.delete(id);
  }
  chosen.set(next);
}

/** Chooses a task, or no longer if it is chosen. */
export function toggleChosen(id: string): void {
  choose([id], !chosen.get().has(id));
}

export function chooseNone(): void {
  chosen.set(NONE);
}

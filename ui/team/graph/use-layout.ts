import { useEffect, useRef, useState } from 'react';
import type { TeamStore } from '../../data/team-store.ts';
import { useStore, useTeam } from '../../data/use-team.tsx';
import type { Places } from './arrange.ts';
import { layOut } from './layout.ts';

/** Where the tasks of a team were put last: who comes back to the graph finds it as it was, at once. */
const known = new WeakMap<TeamStore, Places>();
const NOWHERE: Places = {};

/**
 * Where the tasks of the graph go. Worked out anew when a task or a dependency came or went, never when only a status
 * changed; until then the old picture stays. In the past, tasks stand where they stand now.
 */
export function useLayout(): Places {
  const store = useStore();
  const structure = useTeam(({ view }) => view.structure);
  const isPast = useTeam(({ moment }) => moment !== undefined);
  const [places, setPlaces] = useState<Places>(() => known.get(store) ?? NOWHERE);
  const wanted = useRef({ isBusy: false, again: false });
  useEffect(() => {
    const run = async (): Promise<void> => {
      const state = wanted.current;
      if (state.isBusy) {
        state.again = true;
        return;
      }
      state.isBusy = true;
      do {
        state.again = false;
        const { tasks } = store.view;
        const before = known.get(store) ?? NOWHERE;
        if (store.moment !== undefined && tasks.every(({ id }) => id in before)) break;
        const found = await layOut(tasks.map(({ id, task }) => [id, task.dependencies]));
        // What is gone keeps its place for those who look back.
        const next = { ...before, ...found };
        known.set(store, next);
        setPlaces(next);
      } while (state.again);
      state.isBusy = false;
    };
    void run();
  }, [store, structure, isPast]);
  return places;
}

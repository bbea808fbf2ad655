import { useEffect, useRef, useState } from 'react';
import type { TeamStore } from '../../data/team-store.ts';
import { useStore, useTeam } from '../../data/use-team.tsx';
import type { Places } from './arrange.ts';
import { layOut } from './layout.ts';

/** The last layout of each team, so that the graph is back at once, unchanged, when somebody returns to it. */
const known = new WeakMap<TeamStore, Places>();
const NOWHERE: Places = {};

/**
 * The layout of the graph. It is computed again when a task or a dependency was added or removed, never for a status
 * change. Until it is ready, the old one stays. In the past, tasks are where they are now.
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
        // Removed tasks keep their place, for views of the past.
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

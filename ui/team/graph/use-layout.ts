import { useEffect, useRef, useState } from 'react';
import { useStore, useTeam } from '../../data/use-team.tsx';
import type { Places } from './arrange.ts';
import { layOut } from './layout.ts';

/**
 * Where the tasks of the graph go. Worked out anew when a task or a dependency came or went, never when only a status
 * changed; until then the old picture stays. In the past, tasks stand where they stand now.
 */
export function useLayout(): Places {
  const store = useStore();
  const structure = useTeam(({ view }) => view.structure);
  const isPast = useTeam(({ moment }) => moment !== undefined);
  const [places, setPlaces] = useState<Places>({});
  const known = useRef<Places>({});
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
        if (store.moment !== undefined && tasks.every(({ id }) => id in known.current)) break;
        const found = await layOut(tasks.map(({ id, task }) => [id, task.dependencies]));
        // What is gone keeps its place for those who look back.
        known.current = { ...known.current, ...found };
        setPlaces(known.current);
      } while (state.again);
      state.isBusy = false;
    };
    void run();
  }, [store, structure, isPast]);
  return places;
}

import { useEffect, useRef, useState } from 'react';
import type { TeamStore } from '../../data/team-store.ts';
import { useStore, useTeam } from '../../data/use-team.tsx';
import type { Places } from './arrange.ts';
import type { Knot } from './layers.ts';
import { layOut } from './layout.ts';

/** The last layout of each team, so that the graph is back at once, unchanged, when somebody returns to it. */
const known = new WeakMap<TeamStore, Places>();
const NOWHERE: Places = {};

/**
 * The layout of the graph. It is computed again when a node or a dependency was added or removed, never for a status
 * change. Until it is ready, the old one stays. In the past, tasks are where they are now.
 */
export function useLayout(knots: readonly Knot[]): { places: Places; isSettled: boolean } {
  const store = useStore();
  const isPast = useTeam(({ moment }) => moment !== undefined);
  const [layout, setLayout] = useState<{ places: Places; of?: readonly Knot[] }>(() => ({
    places: known.get(store) ?? NOWHERE,
  }));
  const wanted = useRef({ isBusy: false, again: false, knots });
  wanted.current.knots = knots;
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
        const { knots: of } = state;
        const before = known.get(store) ?? NOWHERE;
        if (store.moment !== undefined && of.every(([id]) => id in before)) {
          setLayout({ places: before, of });
          break;
        }
        const found = await layOut(of);
        // Removed tasks keep their place, for views of the past.
        const next = { ...before, ...found };
        known.set(store, next);
        setLayout({ places: next, of });
      } while (state.again);
      state.isBusy = false;
    };
    void run();
  }, [store, knots, isPast]);
  return { places: layout.places, isSettled: layout.of === knots };
}

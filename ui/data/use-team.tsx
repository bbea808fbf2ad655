import { createContext, use, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { acquireTeam } from './team-store.ts';
import type { TeamStore } from './team-store.ts';

const TeamContext = createContext<TeamStore | undefined>(undefined);

/** Provides a team to the components inside. */
export function TeamProvider({ teamId, children }: { teamId: string; children: ReactNode }) {
  const [store, setStore] = useState<TeamStore>();
  useEffect(() => {
    const { store, release } = acquireTeam(teamId);
    setStore(store);
    return release;
  }, [teamId]);
  if (store?.teamId !== teamId) return null;
  return <TeamContext value={store}>{children}</TeamContext>;
}

/** The store of the team that surrounds this component. */
export function useStore(): TeamStore {
  const store = use(TeamContext);
  if (!store) throw new Error('This part of the page is outside of a team');
  return store;
}

/** Selects something of the team; the component renders again only when that value changes. */
export function useTeam<T>(select: (store: TeamStore) => T, isSame: (a: T, b: T) => boolean = Object.is): T {
  const store = useStore();
  const last = useRef<{ store: TeamStore; version: number; select: typeof select; value: T }>(undefined);
  return useSyncExternalStore(store.subscribe, () => {
    const before = last.current;
    if (before?.store === store && before.version === store.version && before.select === select) return before.value;
    const value = select(store);
    const kept = before?.store === store && isSame(before.value, value) ? before.value : value;
    last.current = { store, version: store.version, select, value: kept };
    return kept;
  });
}

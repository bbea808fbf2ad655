import { useEffect } from 'react';
import { useQuery } from './route.ts';
import { useStore, useTeam } from './use-team.tsx';

/** Keeps the shown moment in the address, so that a link shows the same. */
export function useMoment(): void {
  const store = useStore();
  const phase = useTeam(({ phase }) => phase);
  // Also one that cannot be shown yet: whoever copies the address means it.
  const moment = useTeam(({ wanted, moment }) => wanted ?? moment);
  const [query, setQuery] = useQuery();
  const asked = Number(query.get('at') ?? 0);
  useEffect(() => {
    if (phase === 'live' && asked > 0 && store.moment === undefined) store.show(asked);
    // Only once the team is read; later the page changes the moment itself.
  }, [phase === 'live']);
  useEffect(() => {
    if (phase !== 'live') return undefined;
    const timer = setTimeout(() => setQuery({ at: moment?.toString() }), 200);
    return () => clearTimeout(timer);
  }, [moment, phase]);
  useEffect(() => () => store.show(undefined), [store]);
}

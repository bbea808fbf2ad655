import { useNow } from '../parts/format.ts';
import { useTeam } from './use-team.tsx';

/** The current time of the view: if it shows the past, that moment. */
export function useTeamNow(): number {
  const now = useNow();
  const past = useTeam(({ moment, history }) =>
    moment === undefined ? undefined : history[moment - 1]?.events[0]?.at,
  );
  return past ?? now;
}

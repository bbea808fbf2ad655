import { useNow } from '../parts/format.ts';
import { useTeam } from './use-team.tsx';

/** The present of what is shown: when the team is shown as it was, that moment. */
export function useTeamNow(): number {
  const now = useNow();
  const past = useTeam(({ moment, history }) =>
    moment === undefined ? undefined : history[moment - 1]?.events[0]?.at,
  );
  return past ?? now;
}

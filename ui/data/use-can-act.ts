import { reach } from './daemon.ts';
import { useSignal } from './signal.ts';
import { useTeam } from './use-team.tsx';

/** Whether the team can be changed now: it is open, the daemon is reachable, and the page shows the present. */
export function useCanAct(): boolean {
  const isHere = useSignal(reach) === 'live';
  const isOpen = useTeam(({ view, moment }) => moment === undefined && view.team?.status !== 'cleaned-up');
  return isHere && isOpen;
}

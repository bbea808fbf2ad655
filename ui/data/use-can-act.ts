import { reach } from './daemon.ts';
import { useSignal } from './signal.ts';
import { useTeam } from './use-team.tsx';

/** Whether something can be done to the team now: it is open, the daemon is there, and what one sees is the present. */
export function useCanAct(): boolean {
  const isHere = useSignal(reach) === 'live';
  const isOpen = useTeam(({ view, moment }) => moment === undefined && view.team?.status !== 'cleaned-up');
  return isHere && isOpen;
}

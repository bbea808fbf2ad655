import { Archive, FastForward, Radio, WifiOff } from 'lucide-react';
import { reach } from '../../data/daemon.ts';
import { useSignal } from '../../data/signal.ts';
import { useTeam } from '../../data/use-team.tsx';
import { record } from '../../record/head.ts';

/** Whether the view is live: not while the daemon is unreachable or the replica is behind. A closed team and a record have ended. */
export function LivePill() {
  const isHere = useSignal(reach) === 'live';
  const isBehind = useTeam(({ phase }) => phase !== 'live');
  const isEnded = useTeam(({ isEnded }) => isEnded);
  if ((isEnded || record) && !isBehind) {
    return (
      <span className="status pill is-pending live">
        <Archive size={14} aria-hidden /> {isEnded ? 'Closed' : 'Record'}
      </span>
    );
  }
  if (isHere && !isBehind) {
    return (
      <span className="status pill is-completed live">
        <Radio size={14} aria-hidden /> Live
      </span>
    );
  }
  return (
    <span className="status pill is-gate live">
      {isHere ? <FastForward size={14} aria-hidden /> : <WifiOff size={14} aria-hidden />}
      {isHere ? 'Catching up' : 'Not live'}
    </span>
  );
}

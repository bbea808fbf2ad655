import { CircleDot } from 'lucide-react';
import type { Situation, SituationKind } from '../../src/core/situation.ts';
import { call } from '../data/daemon.ts';
import { teamPath } from '../data/route.ts';
import type { TaskPhase } from '../data/task-view.ts';
import { act } from './act.ts';
import { showControls } from './controls.ts';
import { Link } from './link.tsx';
import { PhaseIcon } from './status.tsx';

const PHASES: Readonly<Record<SituationKind, TaskPhase>> = {
  closed: 'blocked',
  'shutting-down': 'gate',
  'needs-you': 'gate',
  limited: 'gate',
  silent: 'gate',
  running: 'in_progress',
  stuck: 'failed',
  unclaimed: 'failed',
  failed: 'failed',
  done: 'completed',
  quiet: 'pending',
};

/** How a team is, in the words that `troupe ps` and the lead's digest use too. */
export function SituationPill({ situation: { kind, word, text } }: { situation: Situation }) {
  const phase = PHASES[kind];
  return (
    <span className={`status pill situation is-${phase}`} title={showControls(text)}>
      {kind === 'running' ? <CircleDot size={14} aria-hidden /> : <PhaseIcon phase={phase} />}
      <span className="one-line situation-text">{showControls(text)}</span>
      {/* Where there is no room for the reason. */}
      <span className="one-line situation-word" data-word={showControls(word)} aria-hidden />
    </span>
  );
}

/** The one button that helps; none if the team goes on by itself. */
export function SituationHelp({
  teamId,
  situation,
  onSpawn,
}: {
  teamId: string;
  situation: Situation;
  /** Opens the form for a new member, where there is one. */
  onSpawn?: () => void;
}) {
  const { kind, requestId, taskId, memberId, account } = situation;
  const link = (href: string, words: string) => (
    <Link className="button small situation-help" href={href}>
      {words}
    </Link>
  );
  if (kind === 'needs-you' && requestId !== undefined) {
    return link(`/queue?id=${encodeURIComponent(`${teamId}/${requestId}`)}`, 'Answer');
  }
  if ((kind === 'stuck' || kind === 'failed') && taskId !== undefined) {
    return link(teamPath(teamId, `/task/${taskId}`), `Open #${taskId}`);
  }
  if (kind === 'silent' && memberId !== undefined) return link(teamPath(teamId, `/m/${memberId}`), `Open ${memberId}`);
  if (kind === 'limited' && account !== undefined) {
    const again = (): void => void act(() => call('account.clear', { teamId, account }), `${account} is tried again`);
    return (
      <button type="button" className="button small situation-help" onClick={again}>
        Try now
      </button>
    );
  }
  if (kind !== 'unclaimed') return null;
  return onSpawn ? (
    <button type="button" className="button small situation-help" onClick={onSpawn}>
      Add a member
    </button>
  ) : (
    link(teamPath(teamId), 'Open')
  );
}

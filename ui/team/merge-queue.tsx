import { CircleX, Eye, GitMerge, GitPullRequestArrow } from 'lucide-react';
import type { ReactNode } from 'react';
import { wordApprover } from '../../src/client/replica.ts';
import type { AskedEntry, QueueEntry, QueueView, SentBack } from '../../src/core/queue-view.ts';
import { diffPath, teamPath, withQuery } from '../data/route.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { useTeam } from '../data/use-team.tsx';
import { showControls } from '../parts/controls.ts';
import { plural, showAgo, showMoment, showSince } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { PhaseIcon } from '../parts/status.tsx';
import { Holder } from './task-facts.tsx';
import './merge-queue.css';

/** More would push the members out of sight; `troupe work` has them all. */
const SHOWN = 8;
const BACK = 3;

/** What lands now, what waits, and what went back and why. Nothing if there is none of it. */
export function MergeQueue({ teamId }: { teamId: string }) {
  const queue = useTeam(({ view }) => view.queue);
  const { entries, asked, ended, sentBack } = queue;
  if (entries.length === 0 && asked.length === 0 && sentBack.length === 0) return null;
  const left = entries.length - SHOWN;
  // A rejected work has a line of its own.
  const isTold = ended?.how === 'red' && sentBack.some(({ taskId }) => ended.tasks.includes(taskId));
  return (
    <section className="merge-queue" aria-label="Merge queue">
      <h2 className="side-head">
        Merge queue <span className="quiet">{entries.length === 0 ? 'empty' : plural(entries.length, 'work')}</span>
      </h2>
      <ol>
        {entries.slice(0, SHOWN).map((entry) => (
          <Waiting key={entry.taskId} teamId={teamId} entry={entry} queue={queue} />
        ))}
      </ol>
      {left > 0 && <p className="meta queue-more">and {plural(left, 'more work')}</p>}
      {ended && !isTold && <Ended ended={ended} />}
      {asked.length > 0 && (
        <ul aria-label="To approve">
          {asked.slice(0, SHOWN).map((one) => (
            <ToApprove key={one.taskId} teamId={teamId} one={one} />
          ))}
        </ul>
      )}
      {asked.length > SHOWN && (
        <p className="meta queue-more">and {plural(asked.length - SHOWN, 'more work')} to approve</p>
      )}
      {sentBack.length > 0 && (
        <ul aria-label="Sent back">
          {sentBack.slice(0, BACK).map((one) => (
            <WentBack key={one.taskId} teamId={teamId} one={one} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Waiting({ teamId, entry, queue }: { teamId: string; entry: QueueEntry; queue: QueueView }) {
  const { taskId, title, memberId, place, since, files, isLanding, hasLeft } = entry;
  const now = useTeamNow();
  return (
    <li className={isLanding ? 'is-landing' : undefined}>
      <TaskLink href={withQuery(teamPath(teamId, `/task/${taskId}`))} taskId={taskId} title={title}>
        <span className="queue-place" title={isLanding ? 'Judged now' : `Place ${place}`}>
          {isLanding ? (
            <span className="status is-in_progress">
              <PhaseIcon phase="in_progress" />
            </span>
          ) : (
            place
          )}
        </span>
      </TaskLink>
      <p className="meta queue-facts">
        <Holder id={memberId} />
        {hasLeft && <span>stopped</span>}
        <span className="unbroken">{plural(files, 'file')}</span>
        <span className="unbroken" title={`Handed in ${showMoment(since)}`}>
          {isLanding ? judgedWords(entry, queue, now) : `waits ${showSince(since, now)}`}
        </span>
      </p>
    </li>
  );
}

/** A task of the queue, after its place or its sign. */
function TaskLink({
  href,
  taskId,
  title,
  children,
}: {
  href: string;
  taskId: string;
  title: string;
  children: ReactNode;
}) {
  return (
    <Link className="queue-task" href={href}>
      {children}
      <span className="mono quiet">#{taskId}</span>
      <span className="one-line">{showControls(title)}</span>
    </Link>
  );
}

function ToApprove({ teamId, one }: { teamId: string; one: AskedEntry }) {
  const { taskId, title, memberId, reviewerId, since, files } = one;
  const now = useTeamNow();
  return (
    <li className="is-asked">
      <TaskLink href={diffPath(teamId, taskId)} taskId={taskId} title={title}>
        <span className="queue-place queue-asked">
          <Eye size={14} aria-hidden />
          <span className="hidden">To approve</span>
        </span>
      </TaskLink>
      <p className="meta queue-facts">
        <Holder id={memberId} />
        <span className="unbroken">{plural(files, 'file')}</span>
        <span title={`Asked ${showMoment(since)}`}>
          {wordApprover(reviewerId)}, {showSince(since, now)}
        </span>
      </p>
    </li>
  );
}

function judgedWords({ taskId }: QueueEntry, { entries, landingSince }: QueueView, now: number): string {
  const others = entries.filter((one) => one.isLanding && one.taskId !== taskId).length;
  const together = others === 0 ? '' : ` with ${plural(others, 'other')}`;
  return `judged${together}${landingSince === undefined ? '' : ` ${showSince(landingSince, now)}`}`;
}

const ENDS = {
  red: 'rejected',
  split: 'rejected together, and halved',
  dropped: 'given up, and begins again',
} as const;

function Ended({ ended: { how, why, tasks, at } }: { ended: NonNullable<QueueView['ended']> }) {
  const now = useTeamNow();
  return (
    <p className="meta queue-more" title={`${showMoment(at)}: ${showControls(why)}`}>
      <GitPullRequestArrow size={13} aria-hidden /> Last landing ({tasks.map((id) => `#${id}`).join(', ')}): {ENDS[how]}
      , {showAgo(at, now)}
    </p>
  );
}

function WentBack({ teamId, one }: { teamId: string; one: SentBack }) {
  const { taskId, title, memberId, why, conflicts } = one;
  const isConflict = conflicts.length > 0;
  const Icon = isConflict ? GitMerge : CircleX;
  const said = showControls(isConflict ? `conflicts in ${conflicts.join(', ')}` : why);
  return (
    <li className="is-back">
      <TaskLink href={withQuery(teamPath(teamId, `/task/${taskId}`))} taskId={taskId} title={title}>
        <span className="queue-place queue-bad">
          <Icon size={14} aria-hidden />
          <span className="hidden">Sent back</span>
        </span>
      </TaskLink>
      <p className="meta queue-facts">
        <span className="one-line" title={said}>
          back to {memberId}: {said}
        </span>
      </p>
    </li>
  );
}

import {
  isLost,
  isPerson,
  silentSince,
  waitingOf,
  waitsOrSilent,
  waitsToLand,
  wordLanding,
} from '../../src/client/replica.ts';
import type { MemberRecord } from '../../src/core/state.ts';
import type { SharedTask } from '../../src/core/task.ts';
import { freeSince } from '../data/free-since.ts';
import { isForPerson } from '../data/teams.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { useTeam } from '../data/use-team.tsx';
import { showControls } from '../parts/controls.ts';
import { plural, showAgo, showMoment, showSince } from '../parts/format.ts';
import { MemberStatus, PersonStatus } from '../parts/status.tsx';
import { useWorkTime } from './task-facts.tsx';

/** The task that a member works on now. */
function useHeldTask(memberId: string): SharedTask | undefined {
  return useTeam(({ view }) => view.held.get(memberId));
}

/** Since when a request of a member waits for a person. */
function useAsked(memberId: string): number | undefined {
  return useTeam(({ view }) =>
    view.pending
      .find((one) => one.memberId === memberId && one.kind !== 'review' && isForPerson(one))
      ?.requestedAt.getTime(),
  );
}

/** The state of a member in one word; the same everywhere. */
export function MemberState({ member }: { member: MemberRecord }) {
  const task = useHeldTask(member.id);
  const asked = useAsked(member.id);
  if (isAtHand(member) && task === undefined) return <PersonStatus />;
  const isLanding = task !== undefined && waitsToLand(task);
  return (
    <MemberStatus
      status={member.status}
      isBusy={task !== undefined}
      isLanding={isLanding}
      needsHelp={asked !== undefined}
    />
  );
}

/** Whether the member is a person who has not left the team. A person is never idle, whatever the status says. */
function isAtHand(member: MemberRecord): boolean {
  return isPerson(member) && member.status !== 'stopped';
}

/**
 * Since when this state holds: the request, the task, being idle, or the status itself. Undefined while the history that
 * says it is being read.
 */
function useSince(member: MemberRecord): number | undefined {
  const task = useHeldTask(member.id);
  const asked = useAsked(member.id);
  const free = useTeam(({ isWhole, history, moment, progress }) =>
    isWhole ? freeSince(history, moment ?? progress.done, member.id) : 'being read',
  );
  const since = member.statusSince.getTime();
  if (member.status === 'stopped') return since;
  if (asked !== undefined) return asked;
  if (task?.startedAt) return task.startedAt.getTime();
  // An idle member that a message woke has been working since then.
  if (member.status !== 'active' || waitingOf(member) !== undefined) return since;
  return free === 'being read' ? undefined : Math.max(free ?? since, since);
}

/** Its task and since when; or since when its state holds. */
export function Doing({ member }: { member: MemberRecord }) {
  const task = useHeldTask(member.id);
  const isAsking = useAsked(member.id) !== undefined;
  const isLead = useTeam(({ view }) => view.team?.leadId === member.id);
  const now = useTeamNow();
  const since = useSince(member);
  const waiting = waitingOf(member);
  if (task) {
    return (
      <span className="doing">
        <span className="mono quiet">#{task.id}</span> <span className="one-line">{showControls(task.title)}</span>
        {task.work && waitsToLand(task) ? (
          <span className="quiet"> · {wordLanding(task.work)}</span>
        ) : (
          task.startedAt && (
            <span className="quiet">
              {' '}
              · <WorkTime task={task} />
            </span>
          )
        )}
        {waiting !== undefined && (
          <span className="quiet one-line" title={waiting}>
            {' '}
            · {waitsOrSilent(member)}: {showControls(waiting)}
          </span>
        )}
      </span>
    );
  }
  if (member.status === 'stopped' && !isLost(member)) {
    return (
      <span className="doing quiet">
        <span className="one-line">{showControls(member.stopReason ?? 'stopped')}</span>{' '}
        <span>· {showAgo(member.statusSince.getTime(), now)}</span>
      </span>
    );
  }
  if (isAtHand(member)) return <AtHand member={member} />;
  if (waiting !== undefined) {
    return (
      <span className="quiet" title={waiting}>
        {isLost(member) ? 'lost, ' : ''}
        {waitsOrSilent(member)} {showSince(silentSince(member) ?? member.statusSince.getTime(), now)}:{' '}
        {showControls(waiting)}
      </span>
    );
  }
  return (
    <span className="quiet">
      {member.status === 'active' && !isAsking ? (isLead ? 'leading ' : 'without a task ') : ''}
      {since !== undefined && showSince(since, now)}
    </span>
  );
}

function WorkTime({ task }: { task: SharedTask }) {
  return <>{useWorkTime(task).span}</>;
}

/** How long a member has been in its state; for one that works, its working time on the task. */
export function StateSpan({ member }: { member: MemberRecord }) {
  const task = useHeldTask(member.id);
  const isAsking = useAsked(member.id) !== undefined;
  const since = useSince(member);
  const now = useTeamNow();
  const isWorking = task?.startedAt !== undefined && !isAsking && member.status !== 'stopped';
  if (since === undefined) return null;
  return (
    <span className="unbroken" title={showMoment(since)}>
      {isWorking ? (
        <>
          for <WorkTime task={task} />
        </>
      ) : (
        showSince(since, now)
      )}
    </span>
  );
}

/** What is known about a person: whether they lead, and how many messages are unread. */
function AtHand({ member }: { member: MemberRecord }) {
  const isLead = useTeam(({ view }) => view.team?.leadId === member.id);
  const unread = useTeam(({ view }) => view.state.index.inboxes.get(member.id)?.waiting.size ?? 0);
  return (
    <span className="quiet">
      {isLead ? 'leads by hand' : 'works by hand'}
      {unread > 0 && ` · ${plural(unread, 'message')} not read`}
    </span>
  );
}

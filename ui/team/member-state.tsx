import { isLost, waitingOf } from '../../src/client/replica.ts';
import type { MemberRecord } from '../../src/core/state.ts';
import type { SharedTask } from '../../src/core/task.ts';
import { freeSince } from '../data/free-since.ts';
import { isForPerson } from '../data/teams.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { useTeam } from '../data/use-team.tsx';
import { showControls } from '../parts/controls.ts';
import { showSpan } from '../parts/format.ts';
import { MemberStatus } from '../parts/status.tsx';

/** What a member works on now. */
export function useHeldTask(memberId: string): SharedTask | undefined {
  return useTeam(({ view }) => view.held.get(memberId));
}

/** Since when something of a member waits for a person. */
function useAsked(memberId: string): number | undefined {
  return useTeam(({ view }) =>
    view.pending.find((one) => one.memberId === memberId && isForPerson(one))?.requestedAt.getTime(),
  );
}

/** What a member does, in a word; the same word wherever it is shown. */
export function MemberState({ member }: { member: MemberRecord }) {
  const task = useHeldTask(member.id);
  const asked = useAsked(member.id);
  return <MemberStatus status={member.status} isBusy={task !== undefined} needsHelp={asked !== undefined} />;
}

/** Since when that word holds: what waits, its task, having none, or being what it is. */
export function useSince(member: MemberRecord): number {
  const task = useHeldTask(member.id);
  const asked = useAsked(member.id);
  const free = useTeam(({ history, moment, progress }) => freeSince(history, moment ?? progress.done, member.id));
  const since = member.statusSince.getTime();
  if (member.status === 'stopped') return since;
  if (asked !== undefined) return asked;
  if (task?.startedAt) return task.startedAt.getTime();
  return member.status === 'active' && waitingOf(member) === undefined ? (free ?? since) : since;
}

/** Its task and since when; or since when it is what it is. */
export function Doing({ member }: { member: MemberRecord }) {
  const task = useHeldTask(member.id);
  const isAsking = useAsked(member.id) !== undefined;
  const now = useTeamNow();
  const since = showSpan(now - useSince(member));
  if (task) {
    return (
      <>
        <span className="mono quiet">#{task.id}</span> {showControls(task.title)}
        {task.startedAt && <span className="quiet"> · {showSpan(now - task.startedAt.getTime())}</span>}
      </>
    );
  }
  if (member.status === 'stopped' && !isLost(member)) {
    return (
      <span className="quiet">
        {member.stopReason ?? 'stopped'} · {since} ago
      </span>
    );
  }
  const waiting = waitingOf(member);
  if (waiting !== undefined) {
    return (
      <span className="quiet" title={waiting}>
        {isLost(member) ? 'lost, ' : ''}waits for {showSpan(now - member.statusSince.getTime())}: {waiting}
      </span>
    );
  }
  return (
    <span className="quiet">
      {member.status === 'active' && !isAsking ? 'without a task ' : ''}for {since}
    </span>
  );
}

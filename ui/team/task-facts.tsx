import { CircleCheck, GitMerge, GitPullRequestArrow } from 'lucide-react';
import type { CSSProperties } from 'react';
import { waitsSince, waitsToLand, whyBlocked, wordLanding, wordLease, workedOn } from '../../src/client/replica.ts';
import type { SharedTask } from '../../src/core/task.ts';
import type { TaskView } from '../data/task-view.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { useTeam } from '../data/use-team.tsx';
import { Avatar } from '../parts/avatar.tsx';
import { showControls } from '../parts/controls.ts';
import { showSpan } from '../parts/format.ts';

/**
 * The working time of a task, or how long it waits for an answer or a gate; why nobody can claim it, besides the tasks
 * that it waits for; or how often it was rejected. `dot` puts a dot before it.
 */
export function Since({ view: { task, phase }, dot = false }: { view: TaskView; dot?: boolean }) {
  const before = dot ? ' · ' : '';
  if (task.work && phase === 'in_progress' && waitsToLand(task)) {
    return (
      <span className="to-land" title="Its work is handed in">
        {before}
        <GitPullRequestArrow size={12} aria-hidden /> {wordLanding(task.work)}
      </span>
    );
  }
  if ((phase === 'in_progress' || phase === 'gate') && task.startedAt) {
    return (
      <>
        {before}
        <Elapsed task={task} isGate={phase === 'gate'} />
        <LeaseEnd task={task} />
      </>
    );
  }
  const why = showControls(whyBlocked(task, () => ''));
  if (why !== '') {
    return (
      <span className="why-blocked one-line" title={`It ${why}`}>
        {before}
        {why}
      </span>
    );
  }
  if (task.rejections === 0 || phase === 'completed') return null;
  return (
    <span title={`A gate sent it back ${task.rejections} times`}>
      {before}gate ×{task.rejections}
    </span>
  );
}

/** What became of the work of a task, if that is worth a mark: it landed, or it conflicts. */
export function WorkMark({ task: { work } }: { task: SharedTask }) {
  if (work?.state === 'landed') {
    return (
      <span className="work-mark is-landed" title={`Landed as ${work.merged?.slice(0, 7)}`}>
        <CircleCheck size={12} aria-hidden />
        landed
      </span>
    );
  }
  if (work?.state !== 'conflicted') return null;
  return (
    <span className="work-mark is-conflicted" title={showControls(`Conflicts in ${work.conflicts?.join(', ')}`)}>
      <GitMerge size={12} aria-hidden />
      conflicts
    </span>
  );
}

/** Until when the holder has to be heard. */
function LeaseEnd({ task }: { task: SharedTask }) {
  const lease = wordLease(task, useTeamNow());
  if (lease === undefined) return null;
  return <span title="If its holder calls nothing until then, the task is free again">{` · ${lease}`}</span>;
}

/** Working time stops while the holder waits for an answer. Then the waiting time is shown. */
function Elapsed({ task, isGate }: { task: SharedTask; isGate: boolean }) {
  const { span, isWaiting } = useWorkTime(task);
  return <>{isWaiting && !isGate ? `waits ${span}` : span}</>;
}

/** The working time of a held task, or, while its holder waits for an answer, the waiting time. */
export function useWorkTime(task: SharedTask): { span: string; isWaiting: boolean } {
  const now = useTeamNow();
  const requests = useTeam(({ view }) => view.state.requests);
  // The table stays the same object after an answer; the list of pending requests does not.
  useTeam(({ view }) => view.pending);
  const waits = waitsSince(task, requests.values());
  const span = showSpan(waits === undefined ? workedOn(task, requests.values(), now) : now - waits);
  return { span, isWaiting: waits !== undefined };
}

/** The holder or assignee of a task. */
export function Holder({ id }: { id: string | undefined }) {
  const color = useTeam(({ view }) => (id === undefined ? undefined : view.state.members.get(id)?.color));
  if (id === undefined) return null;
  return (
    <span className="holder" title={id}>
      <Avatar name={id} color={color} size={16} />
      <span className="one-line" style={{ '--letters': id.length } as CSSProperties}>
        {id}
      </span>
    </span>
  );
}

import { MessageSquarePlus } from 'lucide-react';
import { useMemo } from 'react';
import type { RefObject } from 'react';
import type { TeamRequest } from '../../src/core/request.ts';
import { useLost } from '../data/review-drafts.ts';
import type { Reviewed } from '../data/review-drafts.ts';
import { useCanAct } from '../data/use-can-act.ts';
import { useTeam } from '../data/use-team.tsx';
import { Answer } from '../queue/answer-form.tsx';
import { kindOf, workOf } from '../queue/answer.ts';
import { LostNote } from '../queue/comment-list.tsx';
import type { LineListHandle } from './line-list.tsx';

/** The question whether a task's work may land, if it waits for an answer. */
export interface ShownReview {
  readonly request: TeamRequest | undefined;
  readonly work: Reviewed | undefined;
  /** Whether the page shows just the work that it is about. */
  readonly isShown: boolean;
}

export function useReview(teamId: string, of: string | undefined, shown: string | undefined): ShownReview {
  const request = useTeam(({ view }) =>
    of === undefined ? undefined : view.pending.find((one) => one.taskId === of && workOf(one) !== undefined),
  );
  const { taskId, commit } = (request && workOf(request)) ?? {};
  const work = useMemo(
    () => (taskId === undefined || commit === undefined ? undefined : { teamId, taskId, commit }),
    [teamId, taskId, commit],
  );
  return { request, work, isShown: commit !== undefined && commit === shown };
}

/** Below the lines of a work that waits for its approval: all comments, and the answer. */
export function ReviewBar({
  teamId,
  taskId,
  review: { request, work, isShown },
  list,
  onNewer,
}: {
  teamId: string;
  taskId: string;
  review: ShownReview;
  list: RefObject<LineListHandle | null>;
  /** Shows what was handed in last. */
  onNewer: () => void;
}) {
  const canAct = useCanAct();
  const lost = useLost(teamId, taskId, work?.commit);
  if (!request || !work) {
    return lost ? (
      <section className="review-bar" aria-label="Review">
        <LostNote teamId={teamId} taskId={taskId} lost={lost} />
      </section>
    ) : null;
  }
  const { name } = kindOf(request);
  return (
    <section className="review-bar" aria-label="Review">
      {isShown ? (
        <>
          <div className="row">
            <b>{name}</b>
            <span className="spacer" />
            <button type="button" className="button small" onClick={() => list.current?.pickLine()}>
              <MessageSquarePlus size={14} aria-hidden /> Comment on a line <kbd>C</kbd>
            </button>
          </div>
          <Answer
            request={request}
            canAct={canAct}
            place="diff"
            onShow={(comment) => list.current?.showLine(comment)}
          />
        </>
      ) : (
        <>
          <LostNote teamId={teamId} taskId={taskId} lost={lost} />
          <div className="row">
            <span className="text">
              {name}: commit <span className="mono">{work.commit.slice(0, 7)}</span> waits for your answer. This page
              shows other work.
            </span>
            <button type="button" className="button primary small" onClick={onNewer}>
              Show it
            </button>
          </div>
        </>
      )}
    </section>
  );
}

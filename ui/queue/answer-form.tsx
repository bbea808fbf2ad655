import { ArrowUpRight, Check, RotateCcw, X } from 'lucide-react';
import { useCallback, useRef, useState } from 'react';
import { collected, sendDraft, useDraft, useLost, writeSummary } from '../data/review-drafts.ts';
import type { LineComment } from '../data/review-drafts.ts';
import { diffPath, teamPath } from '../data/route.ts';
import { useAct } from '../parts/act.ts';
import { FailureNote } from '../parts/failure.tsx';
import { plural } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { useSettled } from '../parts/settled.ts';
import { say } from '../parts/toast.tsx';
import { answerRequest, judgeAgain, kindOf, noTo, queuePath, workOf, yesTo } from './answer.ts';
import type { RequestShown } from './answer.ts';
import { CommentList, LostNote } from './comment-list.tsx';
import { QuestionAnswer } from './question-answer.tsx';

/** Where the form is: in a small card, in the queue of all teams, or below the diff. */
type Place = 'card' | 'queue' | 'diff';

interface AnswerProps {
  request: RequestShown;
  canAct: boolean;
  place?: Place;
  /** Shows the line of a comment. */
  onShow?: (comment: LineComment) => void;
}

/** The way to answer a request: a question has its choices, all others a yes and a no. */
export function Answer(props: AnswerProps) {
  const { request, canAct } = props;
  return request.question ? (
    <QuestionAnswer request={request} question={request.question} canAct={canAct} />
  ) : (
    <YesOrNo {...props} />
  );
}

/** The buttons for yes, and for no with a reason. About work, comments on its lines go with a no. */
function YesOrNo({ request, canAct, place = 'card', onShow }: AnswerProps) {
  const [said, setSaid] = useState<string>();
  const [isWarned, setWarned] = useState(false);
  const { ref, isSettled, check } = useSettled();
  const { isBusy, failure, run } = useAct();
  const work = workOf(request);
  const draft = useDraft(work);
  const lost = useLost(request.teamId, work?.taskId, work?.commit);
  const comments = draft ? collected(draft) : [];
  // What a person writes about work is kept with its comments.
  const feedback = work ? draft?.summary : said;
  const isOpened = useRef(false);
  // Only a box that the person has just opened takes the focus: not one that a reload brought back.
  const focusOpened = useCallback((box: HTMLTextAreaElement | null): void => {
    if (isOpened.current) box?.focus();
    isOpened.current = false;
  }, []);
  const setFeedback = (text: string | undefined): void => (work ? writeSummary(work, text) : setSaid(text));
  const isOff = !canAct || isBusy || !isSettled;
  const { name } = kindOf(request.kind);
  const no = noTo(request);
  const yes = yesTo(request);
  const answer = async (approve: boolean): Promise<void> => {
    // A no has its own step before it, so that nobody says it by mistake.
    if (approve && !check()) return;
    if (approve && comments.length > 0 && !isWarned) return setWarned(true);
    const sent = approve ? {} : { comments };
    const send = (): Promise<boolean> =>
      run(() => answerRequest(request, approve, { feedback: feedback ?? '', ...sent }));
    if (!(await (work ? sendDraft(work, send) : send()))) return;
    say(`${name} of ${request.memberId}: ${approve ? 'yes' : 'no'}`);
  };
  const judge = async (): Promise<void> => {
    if (check() && (await run(() => judgeAgain(request)))) say(`The gate let the work of ${request.memberId} pass`);
  };
  const isWarning = isWarned && comments.length > 0;
  return (
    <div className="answer" ref={ref}>
      {work && <LostNote teamId={work.teamId} taskId={work.taskId} lost={lost} />}
      {work && draft && <CommentList work={work} draft={draft} onShow={onShow} />}
      {feedback !== undefined && (
        <label className="field">
          <span>What {whoReads(request)} should know</span>
          <textarea
            className="input"
            value={feedback}
            ref={focusOpened}
            onChange={(event) => setFeedback(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void answer(false);
              if (event.key === 'Escape') {
                event.stopPropagation();
                setFeedback(undefined);
              }
            }}
          />
        </label>
      )}
      {isWarning && (
        <p className="comments-open" role="alert">
          A yes sends no comments: {comments.length === 1 ? 'yours is' : `your ${comments.length} are`} dropped.
        </p>
      )}
      <FailureNote failure={failure} />
      <div className="row">
        {isWarning ? (
          <>
            <button type="button" className="button primary" disabled={isOff} onClick={() => void answer(true)}>
              {yes} without {comments.length === 1 ? 'it' : 'them'}
            </button>
            <button type="button" className="button" onClick={() => setWarned(false)}>
              Cancel
            </button>
          </>
        ) : feedback === undefined ? (
          <>
            <button
              type="button"
              className="button primary"
              data-answer="yes"
              disabled={isOff}
              onClick={() => void answer(true)}
            >
              <Check size={15} aria-hidden /> {yes}
            </button>
            <button
              type="button"
              className="button"
              data-answer="no"
              // This only asks for a reason. If its key did nothing, the keys of the reason would answer.
              disabled={!canAct || isBusy}
              onClick={() => {
                isOpened.current = true;
                setFeedback('');
              }}
            >
              <X size={15} aria-hidden /> {no}
            </button>
            {request.kind === 'gate' && (
              <button
                type="button"
                className="button"
                title="Run the gate again on the unchanged work"
                disabled={isOff}
                onClick={() => void judge()}
              >
                <RotateCcw size={15} aria-hidden /> Judge again
              </button>
            )}
          </>
        ) : (
          <>
            <button
              type="button"
              className="button primary danger"
              disabled={!canAct || isBusy}
              onClick={() => void answer(false)}
            >
              {no.replace('…', '')}
              {comments.length > 0 && ` with ${plural(comments.length, 'comment')}`}
            </button>
            <button type="button" className="button" onClick={() => setFeedback(undefined)}>
              Cancel
            </button>
          </>
        )}
        <span className="spacer" />
        {work && place !== 'diff' && (
          <Link className="button small" href={diffPath(work.teamId, work.taskId)}>
            Diff
          </Link>
        )}
        {place === 'card' && (
          <Link
            className="button ghost icon"
            href={queuePath(request)}
            aria-label={`Open ${name} of ${request.memberId} in the queue`}
            title="Open in the queue"
          >
            <ArrowUpRight size={16} aria-hidden />
          </Link>
        )}
        {place === 'queue' && request.taskId !== undefined && (
          <Link className="button ghost small" href={teamPath(request.teamId, `/task/${request.taskId}`)}>
            Task #{request.taskId}
          </Link>
        )}
      </div>
    </div>
  );
}

/** Whom a no is for: a review is asked of the reviewer, and its answer goes to the holder. */
function whoReads({ kind, memberId, detail }: RequestShown): string {
  const holder = kind === 'review' ? detail?.['holder'] : undefined;
  return typeof holder === 'string' ? holder : memberId;
}

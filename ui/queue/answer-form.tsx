import { ArrowUpRight, Check, RotateCcw, X } from 'lucide-react';
import { useCallback, useRef, useState } from 'react';
import { giveAnswer, useGiven } from '../data/answers.ts';
import { collected, sendDraft, useDraft, useLost, writeSummary } from '../data/review-drafts.ts';
import type { LineComment, Reviewed } from '../data/review-drafts.ts';
import { diffPath, teamPath } from '../data/route.ts';
import { useAct } from '../parts/act.ts';
import { FailureNote } from '../parts/failure.tsx';
import { plural } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { useSettled } from '../parts/settled.ts';
import { say } from '../parts/toast.tsx';
import { answerCall, judgeAgain, kindOf, noTo, queuePath, wordAnswer, workOf, yesTo } from './answer.ts';
import type { RequestShown } from './answer.ts';
import { AmountField, useAmount } from './budget-amount.tsx';
import { CommentList, LostNote } from './comment-list.tsx';
import { Answered } from './outcome.tsx';
import { QuestionAnswer } from './question-answer.tsx';

/** Where the form is: in a small card, in the queue of all teams, or below the diff. */
type Place = 'card' | 'queue' | 'diff';

interface AnswerProps {
  request: RequestShown;
  canAct: boolean;
  place?: Place;
  /** Whether what is asked was on the screen to its end; until then nobody can say yes. */
  isRead?: boolean;
  /** Shows the line of a comment. */
  onShow?: (comment: LineComment) => void;
}

/** The way to answer a request: a question has its choices, all others a yes and a no. */
export function Answer(props: AnswerProps) {
  const { request, canAct, isRead = true } = props;
  const given = useGiven(request);
  if (given && given.state !== 'refused') return <Answered request={request} given={given} />;
  return request.question ? (
    <QuestionAnswer request={request} question={request.question} canAct={canAct} isRead={isRead} />
  ) : (
    <YesOrNo {...props} />
  );
}

/** The buttons for yes, and for no with a reason. About work, comments on its lines go with a no. */
function YesOrNo({ request, canAct, place = 'card', isRead = true, onShow }: AnswerProps) {
  const [said, setSaid] = useState<string>();
  const [isWarned, setWarned] = useState(false);
  const { isBusy, failure, run } = useAct();
  const refused = useGiven(request)?.failure;
  const amount = useAmount(request);
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
  const isWarning = isWarned && comments.length > 0;
  // The buttons take nothing for a moment after they appeared, moved, became others, or the end was read.
  const { ref, isSettled, check } = useSettled(`${feedback === undefined} ${isWarning} ${isRead}`);
  const isOff = !canAct || isBusy || !isSettled;
  const { name } = kindOf(request);
  const no = noTo(request);
  const yes = yesTo(request, amount.value);
  const answer = (approve: boolean): void => {
    if (!canAct || (approve && (!isRead || !amount.isRight || !check()))) return;
    if (approve && comments.length > 0 && !isWarned) return setWarned(true);
    const said = approve ? { feedback, grants: amount.given } : { feedback, comments };
    const words = wordAnswer(request, approve, said);
    giveAnswer(request, words, answerCall(request, approve, said), work && ((send) => sendWithDraft(work, send)));
  };
  const judge = async (): Promise<void> => {
    if (check() && (await run(() => judgeAgain(request)))) say(`The gate let the work of ${request.memberId} pass`);
  };
  return (
    <div className="answer">
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
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) answer(false);
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
      {feedback === undefined && <AmountField amount={amount} canAct={canAct} />}
      <FailureNote failure={failure ?? refused} />
      <div className="row" ref={ref}>
        {isWarning ? (
          <>
            <button type="button" className="button primary" disabled={isOff} onClick={() => answer(true)}>
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
              disabled={isOff || !isRead || !amount.isRight}
              title={isRead ? undefined : 'Read to the end first'}
              onClick={() => answer(true)}
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
              disabled={isOff}
              onClick={() => check() && answer(false)}
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

/** Sends an answer with the comments of a review, which are kept until the daemon has them. */
async function sendWithDraft(work: Reviewed, send: () => Promise<unknown>): Promise<void> {
  let failure: unknown;
  const isSent = await sendDraft(work, () =>
    send().then(
      () => true,
      (error: unknown) => {
        failure = error;
        return false;
      },
    ),
  );
  if (!isSent) throw failure;
}

/** Who gets a no. A review is asked of the reviewer, but its answer goes to the holder. */
function whoReads({ kind, memberId, detail }: RequestShown): string {
  const holder = kind === 'review' ? detail?.['holder'] : undefined;
  return typeof holder === 'string' ? holder : memberId;
}

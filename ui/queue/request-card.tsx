import { ArrowUpRight, Check, RotateCcw, X } from 'lucide-react';
import { useState } from 'react';
import { diffPath, teamPath } from '../data/route.ts';
import { isForPerson } from '../data/teams.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { useAct } from '../parts/act.ts';
import { showControls } from '../parts/controls.ts';
import { FailureNote } from '../parts/failure.tsx';
import { showSpan } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { useSettled } from '../parts/settled.ts';
import { say } from '../parts/toast.tsx';
import { answerRequest, judgeAgain, kindOf, yesTo } from './answer.ts';
import { fitsCard } from './fits-card.ts';
import { RequestContent } from './request-content.tsx';
import './queue.css';

/** A request as a card shows it, from the queue of all teams or from one team's state. */
export interface RequestShown {
  readonly id: string;
  readonly teamId: string;
  readonly kind: string;
  readonly memberId: string;
  readonly content: string;
  readonly taskId?: string | undefined;
  readonly requestedAt: string | Date;
  readonly deadline?: string | Date | undefined;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * A small card for a request: open, or folded to its first line. A command can only be answered here if it is shown
 * whole; other text may scroll.
 */
export function RequestCard({
  request,
  title,
  isOpen,
  canAct,
}: {
  request: RequestShown;
  title: string | undefined;
  isOpen: boolean;
  canAct: boolean;
}) {
  const { name, phase } = kindOf(request.kind);
  const isAnswerable = isForPerson(request);
  const isAll = request.kind !== 'permission' || fitsCard(request.content);
  const now = useTeamNow();
  const since = new Date(request.requestedAt).getTime();
  return (
    <article className={`request is-${phase}`} aria-label={`${name} of ${request.memberId}`}>
      <header className="row">
        <span className="request-kind">{isAnswerable ? name : 'Was asked to stop'}</span>
        <span className="spacer" />
        <span className="meta one-line">{request.memberId}</span>
        <span className="meta request-age">· {showSpan(now - since)}</span>
      </header>
      {title !== undefined && <div className="request-title one-line">{showControls(title)}</div>}
      {isOpen ? (
        <div
          className={`request-content${isAll ? '' : ' is-part'}`}
          {...(request.kind !== 'permission' && { tabIndex: 0, role: 'group', 'aria-label': 'What it says' })}
        >
          <RequestContent kind={request.kind} content={request.content} />
        </div>
      ) : (
        <p className={`request-text one-line${request.kind === 'permission' ? ' mono' : ''}`}>
          {showControls(firstLines(request.content))}
        </p>
      )}
      {isOpen && isAnswerable && isAll && <Answer request={request} canAct={canAct} />}
      {isOpen && isAnswerable && !isAll && (
        <Link className="button" href={queuePath(request)}>
          Read all of it, then answer
        </Link>
      )}
      {!isOpen && <OpenLink request={request} />}
    </article>
  );
}

function OpenLink({ request }: { request: RequestShown }) {
  return (
    <Link className="request-open" href={queuePath(request)}>
      <span className="hidden">
        Open {kindOf(request.kind).name} of {request.memberId}
      </span>
    </Link>
  );
}

function queuePath({ teamId, id }: RequestShown): string {
  return `/queue?id=${encodeURIComponent(`${teamId}/${id}`)}`;
}

function firstLines(text: string): string {
  return text.slice(0, 600).replace(/^#+ .*\n+/, (heading) => `${heading.replace(/^#+ /, '').trim()}. `);
}

/** The buttons for yes, and for no with a reason. */
export function Answer({
  request,
  canAct,
  withLink = true,
}: {
  request: RequestShown;
  canAct: boolean;
  withLink?: boolean;
}) {
  const [feedback, setFeedback] = useState<string>();
  const { ref, isSettled, check } = useSettled();
  const { isBusy, failure, run } = useAct();
  const isOff = !canAct || isBusy || !isSettled;
  const { no, name } = kindOf(request.kind);
  const yes = yesTo(request);
  const answer = async (approve: boolean): Promise<void> => {
    // A no has its own step before it, so that nobody says it by mistake.
    if (approve && !check()) return;
    if (await run(() => answerRequest(request, approve, feedback ?? ''))) {
      say(`${name} of ${request.memberId}: ${approve ? 'yes' : 'no'}`);
    }
  };
  const judge = async (): Promise<void> => {
    if (check() && (await run(() => judgeAgain(request)))) say(`The gate let the work of ${request.memberId} pass`);
  };
  return (
    <div className="answer" ref={ref}>
      {feedback !== undefined && (
        <label className="field">
          <span>What {request.memberId} should know</span>
          <textarea
            className="input"
            value={feedback}
            // The person has just opened it.
            ref={(box) => box?.focus()}
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
      <FailureNote failure={failure} />
      <div className="row">
        {feedback === undefined ? (
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
              onClick={() => setFeedback('')}
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
            </button>
            <button type="button" className="button" onClick={() => setFeedback(undefined)}>
              Cancel
            </button>
          </>
        )}
        <span className="spacer" />
        {request.taskId !== undefined && (request.kind === 'work' || request.kind === 'review') && (
          <Link className="button small" href={diffPath(request.teamId, request.taskId)}>
            Diff
          </Link>
        )}
        {withLink && (
          <Link
            className="button ghost icon"
            href={queuePath(request)}
            aria-label={`Open ${name} of ${request.memberId} in the queue`}
            title="Open in the queue"
          >
            <ArrowUpRight size={16} aria-hidden />
          </Link>
        )}
        {!withLink && request.taskId !== undefined && (
          <Link className="button ghost small" href={teamPath(request.teamId, `/task/${request.taskId}`)}>
            Task #{request.taskId}
          </Link>
        )}
      </div>
    </div>
  );
}

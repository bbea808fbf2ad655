import { Check } from 'lucide-react';
import { useGiven } from '../data/answers.ts';
import { isForPerson } from '../data/teams.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { showControls } from '../parts/controls.ts';
import { CopyLink } from '../parts/copy-link.tsx';
import { showAge, showSpan } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { useSeen } from '../parts/seen.ts';
import { record } from '../record/head.ts';
import { Answer } from './answer-form.tsx';
import { kindOf, queuePath, unansweredOf } from './answer.ts';
import type { RequestShown } from './answer.ts';
import { Facts } from './facts.tsx';
import { fitsCard } from './fits-card.ts';
import { NextButton, Outcome } from './outcome.tsx';
import { RequestContent } from './request-content.tsx';
import './queue.css';

/**
 * A small card for a request: open, or folded to its first line. A command can only be answered here if it is shown
 * whole; other text may scroll.
 */
export function RequestCard({
  request,
  title,
  isOpen: isUnfolded,
  canAct,
  onNext,
}: {
  request: RequestShown;
  title: string | undefined;
  isOpen: boolean;
  canAct: boolean;
  /** Goes on to the next one, after this one was answered. */
  onNext: () => void;
}) {
  const { name, phase } = kindOf(request);
  // A record has no page that shows the rest.
  const isOpen = isUnfolded || record !== undefined;
  const isAnswerable = isForPerson(request);
  const isOver = request.status !== 'pending';
  const given = useGiven(request);
  const isElsewhere = isOver && (given === undefined || given.state === 'refused');
  const { markRef, isSeen } = useSeen();
  const deadline = isOver || request.deadline === undefined ? undefined : new Date(request.deadline).getTime();
  const isAll = request.kind !== 'permission' || fitsCard(request.content) || record !== undefined;
  const now = useTeamNow();
  const since = new Date(request.requestedAt).getTime();
  return (
    <article className={`request is-${phase}`} aria-label={`${name} of ${request.memberId}`}>
      <header className="row">
        <span className="request-kind">{isAnswerable ? name : 'Was asked to stop'}</span>
        <span className="spacer" />
        <span className="meta one-line">{request.memberId}</span>
        <span className="meta request-age">· {showAge(since, now)}</span>
        {isOpen && isAnswerable && !record && (
          <CopyLink path={queuePath(request)} what="this request" className="small" />
        )}
      </header>
      {title !== undefined && <div className="request-title one-line">{showControls(title)}</div>}
      {isOpen ? (
        <div
          className={`request-content${isAll ? '' : ' is-part'}`}
          {...(request.kind !== 'permission' && { tabIndex: 0, role: 'group', 'aria-label': 'What it says' })}
        >
          <RequestContent kind={request.kind} content={request.content} />
          {isAll && <Facts request={request} />}
          <div className="end-mark" ref={markRef} />
        </div>
      ) : (
        <p className={`request-text one-line${request.kind === 'permission' ? ' mono' : ''}`}>
          {showControls(firstLines(request.content))}
        </p>
      )}
      {isOpen && deadline !== undefined && isAnswerable && !record && (
        <p className="meta">
          Without an answer {unansweredOf(request)}{' '}
          <span className="unbroken">{deadline > now ? `in ${showSpan(deadline - now)}` : 'now'}.</span>
        </p>
      )}
      {isOpen && isElsewhere && <Outcome request={request} failure={given?.failure} />}
      {isOpen && isAnswerable && isAll && !isElsewhere && !record && (
        <Answer request={request} canAct={canAct && !isOver} isRead={isSeen} />
      )}
      {isOpen && isOver && (
        <NextButton onNext={onNext}>
          <Check size={15} aria-hidden /> Next
        </NextButton>
      )}
      {isOpen && isAnswerable && !isOver && !isAll && (
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
        Open {kindOf(request).name} of {request.memberId}
      </span>
    </Link>
  );
}

function firstLines(text: string): string {
  return text.slice(0, 600).replace(/^#+ .*\n+/, (heading) => `${heading.replace(/^#+ /, '').trim()}. `);
}

import { isForPerson } from '../data/teams.ts';
import { useTeamNow } from '../data/use-team-now.ts';
import { showControls } from '../parts/controls.ts';
import { showSpan } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { Answer } from './answer-form.tsx';
import { kindOf, queuePath } from './answer.ts';
import type { RequestShown } from './answer.ts';
import { fitsCard } from './fits-card.ts';
import { RequestContent } from './request-content.tsx';
import './queue.css';

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

function firstLines(text: string): string {
  return text.slice(0, 600).replace(/^#+ .*\n+/, (heading) => `${heading.replace(/^#+ /, '').trim()}. `);
}

import { Bell, BellOff, Inbox } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { pathTo } from '../../src/client/replica.ts';
import type { ResultOf } from '../../src/operations/index.ts';
import { useGiven } from '../data/answers.ts';
import { call, reach } from '../data/daemon.ts';
import { teamPath, useQuery } from '../data/route.ts';
import { setWantsNotices, wantsNotices } from '../data/settings.ts';
import { useSignal } from '../data/signal.ts';
import { queue, teams } from '../data/teams.ts';
import type { Waiting } from '../data/teams.ts';
import { showControls } from '../parts/controls.ts';
import { CopyLink } from '../parts/copy-link.tsx';
import { Empty } from '../parts/empty.tsx';
import { showAge, showAgo, showMoment, showSpan, useNow } from '../parts/format.ts';
import { useKeys } from '../parts/keys.ts';
import { Link } from '../parts/link.tsx';
import { useSeen } from '../parts/seen.ts';
import { Answer } from './answer-form.tsx';
import { kindOf, queuePath, unansweredOf } from './answer.ts';
import { Facts } from './facts.tsx';
import { usePermission } from './notices.ts';
import { NextButton, Outcome, useOutcome } from './outcome.tsx';
import { withoutRepeat } from './repeat.ts';
import { RequestContent } from './request-content.tsx';

/** All requests that wait for a person, of all teams, in one queue. */
export function QueuePage() {
  const requests = useSignal(queue);
  const canAct = useSignal(reach) === 'live';
  const [query, setQuery] = useQuery();
  const asked = query.get('id');
  const last = useRef<{ readonly request: Waiting; readonly at: number }>(undefined);
  const found = requests.findIndex((one) => keyOf(one) === asked);
  const open = requests[found];
  if (open) last.current = { request: open, at: found };
  // The shown request stays when it is answered, here or elsewhere: a click or a key must never answer one that the
  // person has not seen. Only the person moves on.
  const answered = open || !last.current || keyOf(last.current.request) !== asked ? undefined : last.current;
  const linked = useLinked(open || answered ? null : asked);
  const current = open ?? answered?.request ?? (linked === 'looking' ? undefined : (linked ?? requests[0]));
  const shown = current && keyOf(current);
  useEffect(() => {
    if (shown !== undefined && shown !== asked) setQuery({ id: shown });
  }, [shown, asked, setQuery]);
  const go = (step: number) => (): void => {
    // The request after an answered one has its place now.
    const at = answered ? answered.at + Math.min(step, 0) : found + step;
    const next = requests[Math.max(0, Math.min(requests.length - 1, at))];
    if (next) setQuery({ id: keyOf(next) });
  };
  const press = (answer: 'yes' | 'no') => (): void => {
    const button = document.querySelector<HTMLButtonElement>(`.queue-detail [data-answer=${answer}]`);
    // The buttons are below the text. A key must not answer before its end was in view, and a moment for reading it.
    if (button && button.getBoundingClientRect().bottom > innerHeight) button.scrollIntoView({ block: 'end' });
    else button?.click();
  };
  const undo = (): void => document.querySelector<HTMLButtonElement>('.queue-detail [data-answer=undo]')?.click();
  useKeys({ j: go(1), k: go(-1), ArrowDown: go(1), ArrowUp: go(-1), a: press('yes'), r: press('no'), u: undo });
  if (linked === 'looking' && !current) return <main className="page" id="main" aria-busy />;
  if (!current) {
    return (
      <main className="page" id="main" tabIndex={-1}>
        <QueueHead count={0} />
        <Empty icon={Inbox} title="Nothing waits for you">
          <p className="quiet">
            Questions of members, plans, permissions, gates that gave up, budgets that are used up and members that
            crashed too often come here.
          </p>
        </Empty>
      </main>
    );
  }
  return (
    <main className="page" id="main" tabIndex={-1}>
      <QueueHead count={requests.length} />
      <div className="queue">
        <ul className="queue-list" aria-label="Waiting requests">
          {requests.map((request) => (
            <li key={keyOf(request)}>
              <QueueLine
                request={request}
                isHere={request === current}
                onSelect={() => setQuery({ id: keyOf(request) })}
              />
            </li>
          ))}
        </ul>
        <Detail
          key={keyOf(current)}
          request={current}
          canAct={canAct}
          isOver={answered !== undefined || current.status !== 'pending'}
          onNext={requests.length > 0 ? go(1) : undefined}
        />
      </div>
    </main>
  );
}

/** A request that a link names and that no longer waits; `looking` until that is known. */
function useLinked(key: string | null): Waiting | 'looking' | undefined {
  const [state, setState] = useState<{ key: string; request: Waiting | undefined }>();
  useEffect(() => {
    if (key === null) return undefined;
    const stop = new AbortController();
    const [teamId = '', id] = key.split(/\/(.*)/s);
    call('request.list', { teamId }, { signal: stop.signal }).then(
      (list) => setState({ key, request: list.find((one) => one.id === id) }),
      () => setState({ key, request: undefined }),
    );
    return () => stop.abort();
  }, [key]);
  if (key === null) return undefined;
  return state?.key === key ? state.request : 'looking';
}

/** The way to the member of a team inside of another; undefined for other teams. */
function usePath({ teamId, memberId }: Waiting): string | undefined {
  const list = useSignal(teams);
  return list && pathTo(list, teamId, memberId);
}

function keyOf({ teamId, id }: { teamId: string; id: string }): string {
  return `${teamId}/${id}`;
}

function QueueHead({ count }: { count: number }) {
  return (
    <div className="page-head">
      <h1>Waits for you</h1>
      {count > 0 && <span className="count">{count}</span>}
      <span className="spacer" />
      <span className="meta queue-keys">
        <kbd>J</kbd> <kbd>K</kbd> move <kbd>A</kbd> yes <kbd>R</kbd> no <kbd>U</kbd> undo
      </span>
      <NoticeButton />
    </div>
  );
}

function NoticeButton() {
  const { permission, ask } = usePermission();
  const isWanted = useSignal(wantsNotices);
  if (permission === 'granted' && isWanted) {
    return (
      <span className="meta row">
        <Bell size={14} aria-hidden /> Notifications are on
      </span>
    );
  }
  return (
    <button
      type="button"
      className="button"
      disabled={permission === 'denied'}
      title={permission === 'denied' ? 'The browser does not allow them for this page' : undefined}
      onClick={() => {
        setWantsNotices(true);
        if (permission === 'default') ask();
      }}
    >
      <BellOff size={15} aria-hidden /> Notify me
    </button>
  );
}

function QueueLine({ request, isHere, onSelect }: { request: Waiting; isHere: boolean; onSelect: () => void }) {
  const now = useNow();
  const given = useGiven(request);
  const path = usePath(request);
  const { name, phase } = kindOf(request);
  return (
    <button type="button" className={`queue-line is-${phase}`} aria-current={isHere} onClick={onSelect}>
      <span className="row">
        <span className="request-kind">{name}</span>
        <span className="spacer" />
        <span className="meta">
          {given && given.state !== 'refused' ? 'answered' : showAge(Date.parse(request.requestedAt), now)}
        </span>
      </span>
      <span className={`one-line${request.kind === 'permission' ? ' mono' : ''}`}>
        {showControls(request.content.split('\n', 1)[0] ?? '').replace(/^#+ /, '')}
      </span>
      <span className="meta one-line">{path ?? `${request.memberId} · ${request.teamId}`}</span>
    </button>
  );
}

function Detail({
  request,
  canAct,
  isOver,
  onNext,
}: {
  request: Waiting;
  canAct: boolean;
  /** Whether it is answered, here or elsewhere. */
  isOver: boolean;
  /** Goes to the next one, if there is one. */
  onNext: (() => void) | undefined;
}) {
  const now = useNow();
  const given = useGiven(request);
  const { markRef, isSeen } = useSeen();
  // Somebody else's answer may have come before mine was sent; then mine is refused.
  const isElsewhere = isOver && (given === undefined || given.state === 'refused');
  const outcome = useOutcome(request, isElsewhere);
  const task = useTask(request.teamId, request.taskId);
  const path = usePath(request);
  const { name, phase } = kindOf(request);
  const unanswered = unansweredOf(request);
  const deadline = request.deadline === undefined ? undefined : Date.parse(request.deadline);
  return (
    <article className={`queue-detail is-${phase}`} aria-label={`${name} of ${request.memberId}`}>
      <header>
        <CopyLink path={queuePath(request)} what="this request" />
        <h2>
          {name} of{' '}
          <Link href={teamPath(request.teamId, `/m/${request.memberId}`)} className="one-line">
            {request.memberId}
          </Link>
        </h2>
        <p className="meta">
          <Link href={teamPath(request.teamId)}>{path ?? request.teamId}</Link> · asked{' '}
          <span title={showMoment(new Date(request.requestedAt))}>{showAgo(Date.parse(request.requestedAt), now)}</span>
          {request.taskId !== undefined && <> · about #{request.taskId}</>}
          {deadline !== undefined && !isOver && (
            <>
              {' '}
              ·{' '}
              <b>
                without an answer {unanswered} {deadline > now ? `in ${showSpan(deadline - now)}` : 'now'}
              </b>
            </>
          )}
        </p>
      </header>
      <div className="queue-content">
        {task && <About task={task} />}
        <RequestContent kind={request.kind} content={withoutRepeat(request.content, task?.feedback)} />
        <Facts request={request} />
        <div className="end-mark" ref={markRef} />
      </div>
      {isElsewhere ? (
        <Outcome request={outcome ?? request} failure={given?.failure} />
      ) : (
        <Answer request={request} canAct={canAct && !isOver} place="queue" isRead={isSeen} />
      )}
      {isOver &&
        (onNext ? (
          <NextButton onNext={onNext}>
            Next request <kbd>J</kbd>
          </NextButton>
        ) : (
          <p className="quiet">Nothing else waits for you.</p>
        ))}
    </article>
  );
}

/** The current state of the task that a request is about. */
function useTask(teamId: string, taskId: string | undefined): ResultOf<'task.show'> | undefined {
  const [task, setTask] = useState<ResultOf<'task.show'>>();
  useEffect(() => {
    if (taskId === undefined) return undefined;
    const stop = new AbortController();
    call('task.show', { teamId, taskId }, { signal: stop.signal }).then(setTask, () => undefined);
    return () => stop.abort();
  }, [teamId, taskId]);
  return task;
}

function About({ task }: { task: ResultOf<'task.show'> }) {
  return (
    <section className="queue-about">
      <h3 className="text">
        <span className="mono quiet">#{task.id}</span> {showControls(task.title)}
      </h3>
      {task.feedback !== undefined && (
        <>
          <span className="label">Why it was sent back{task.rejections > 1 && ` (×${task.rejections})`}</span>
          <pre className="code">{showControls(task.feedback)}</pre>
        </>
      )}
    </section>
  );
}

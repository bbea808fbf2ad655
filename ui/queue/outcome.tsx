import { Check, Undo2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { takeBack } from '../data/answers.ts';
import type { GivenAnswer } from '../data/answers.ts';
import { call } from '../data/daemon.ts';
import type { Failure } from '../parts/act.ts';
import { showControls } from '../parts/controls.ts';
import { FailureNote } from '../parts/failure.tsx';
import { useNow } from '../parts/format.ts';
import { useSettled } from '../parts/settled.ts';
import { wordOutcome } from './answer.ts';
import type { RequestShown } from './answer.ts';

/** What was answered, in the place of the buttons. While nothing was sent, it can be taken back. */
export function Answered({ request, given }: { request: RequestShown; given: GivenAnswer }) {
  const { ref, isSettled, check } = useSettled();
  const now = useNow();
  const isHeld = given.state === 'held';
  // The page's clock may be a second behind.
  const seconds = Math.max(1, Math.ceil((given.sentAt - Math.max(now, Date.now())) / 1_000));
  return (
    <div className="answer answered" ref={ref} tabIndex={-1}>
      <div className="row">
        <OutcomeWords>{given.words}</OutcomeWords>
        <span className="meta" aria-hidden>
          {isHeld ? `sent in ${seconds} s` : given.state === 'sending' ? 'being sent' : ''}
        </span>
        <span className="spacer" />
        {isHeld && (
          <button
            type="button"
            className="button small"
            data-answer="undo"
            // The second click of a double click on the answer must not take it back.
            disabled={!isSettled}
            onClick={() => check() && takeBack(request)}
          >
            <Undo2 size={14} aria-hidden /> Undo
          </button>
        )}
      </div>
    </div>
  );
}

/** What became of a request that was answered elsewhere. */
export function Outcome({ request, failure }: { request: RequestShown; failure: Failure | undefined }) {
  return (
    <div className="answer answered">
      <FailureNote failure={failure} />
      <OutcomeWords>{wordOutcome(request)}</OutcomeWords>
    </div>
  );
}

function OutcomeWords({ children }: { children: string }) {
  return (
    <span className="answered-words text" role="status">
      <Check size={15} aria-hidden /> {showControls(children)}
    </span>
  );
}

/** The way on after an answer. It moves on only when the person asks for it, and not by a second click. */
export function NextButton({ onNext, children }: { onNext: () => void; children: ReactNode }) {
  const { ref, isSettled, check } = useSettled();
  return (
    <div className="row" ref={ref}>
      <button type="button" className="button" disabled={!isSettled} onClick={() => check() && onNext()}>
        {children}
      </button>
    </div>
  );
}

/** A request as it is now, after it left the queue; undefined until that is known. */
export function useOutcome({ teamId, id, kind }: RequestShown, isOver: boolean): RequestShown | undefined {
  const [found, setFound] = useState<RequestShown>();
  useEffect(() => {
    if (!isOver) return undefined;
    const stop = new AbortController();
    call('request.list', { teamId, kind }, { signal: stop.signal }).then(
      (list) => setFound(list.find((one) => one.id === id)),
      () => undefined,
    );
    return () => stop.abort();
  }, [teamId, id, kind, isOver]);
  return isOver ? found : undefined;
}

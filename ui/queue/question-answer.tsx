import { Check, X } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../parts/act.ts';
import { showControls } from '../parts/controls.ts';
import { FailureNote } from '../parts/failure.tsx';
import { useSettled } from '../parts/settled.ts';
import { say } from '../parts/toast.tsx';
import { answerRequest } from './answer.ts';
import type { Asked, RequestShown } from './answer.ts';

/** The answers to a member's question: a button for each choice, and a text if it allows one. */
export function QuestionAnswer({
  request,
  question,
  canAct,
}: {
  request: RequestShown;
  question: Asked;
  canAct: boolean;
}) {
  const [text, setText] = useState('');
  const { ref, isSettled, check } = useSettled();
  const { isBusy, failure, run } = useAct();
  const isOff = !canAct || isBusy || !isSettled;
  const answer = async (approve: boolean, choice?: string): Promise<void> => {
    if (!check()) return;
    if (await run(() => answerRequest(request, approve, { feedback: text, choice }))) {
      say(approve ? `${request.memberId} has your answer` : `${request.memberId} goes on without your answer`);
    }
  };
  return (
    <div className="answer" ref={ref}>
      {question.choices.length > 0 && (
        <div className="row choices" role="group" aria-label="Choices">
          {question.choices.map((choice) => (
            <button
              key={choice}
              type="button"
              className="button primary"
              disabled={isOff}
              onClick={() => void answer(true, choice)}
            >
              {showControls(choice)}
            </button>
          ))}
        </div>
      )}
      {question.freeText && (
        <label className="field">
          <span>{question.choices.length > 0 ? 'Or in your own words' : 'Your answer'}</span>
          <textarea
            className="input"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              const isSent = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
              if (isSent && text.trim() !== '') void answer(true);
            }}
          />
        </label>
      )}
      <FailureNote failure={failure} />
      <div className="row">
        {question.freeText && (
          <button
            type="button"
            className="button"
            data-answer="yes"
            disabled={isOff || text.trim() === ''}
            onClick={() => void answer(true)}
          >
            <Check size={15} aria-hidden /> Answer
          </button>
        )}
        <button type="button" className="button" data-answer="no" disabled={isOff} onClick={() => void answer(false)}>
          <X size={15} aria-hidden /> Leave it to {request.memberId}
        </button>
      </div>
    </div>
  );
}

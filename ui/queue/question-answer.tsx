import { Check, X } from 'lucide-react';
import { useState } from 'react';
import { giveAnswer, useGiven } from '../data/answers.ts';
import { showControls } from '../parts/controls.ts';
import { FailureNote } from '../parts/failure.tsx';
import { useSettled } from '../parts/settled.ts';
import { answerCall, wordAnswer } from './answer.ts';
import type { Asked, RequestShown } from './answer.ts';

/** The answers to a member's question: a button for each choice, and a text if it allows one. */
export function QuestionAnswer({
  request,
  question,
  canAct,
  isRead,
}: {
  request: RequestShown;
  question: Asked;
  canAct: boolean;
  isRead: boolean;
}) {
  const [text, setText] = useState('');
  const { ref, isSettled, check } = useSettled(String(isRead));
  const failure = useGiven(request)?.failure;
  const isOff = !canAct || !isRead || !isSettled;
  const answer = (approve: boolean, choice?: string): void => {
    if (!canAct || !isRead || !check()) return;
    const said = { feedback: text, choice };
    giveAnswer(request, wordAnswer(request, approve, said), answerCall(request, approve, said));
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
              onClick={() => answer(true, choice)}
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
              if (isSent && text.trim() !== '') answer(true);
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
            onClick={() => answer(true)}
          >
            <Check size={15} aria-hidden /> Answer
          </button>
        )}
        {request.kind === 'question' && (
          <button type="button" className="button" data-answer="no" disabled={isOff} onClick={() => answer(false)}>
            <X size={15} aria-hidden /> Leave it to {request.memberId}
          </button>
        )}
      </div>
    </div>
  );
}

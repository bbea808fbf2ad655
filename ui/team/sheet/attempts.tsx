import { ChevronRight, CircleCheck, CircleDot, CircleX, Undo2 } from 'lucide-react';
import type { Attempt } from '../../data/task-attempts.ts';
import { useTeamNow } from '../../data/use-team-now.ts';
import { showControls } from '../../parts/controls.ts';
import { plural, showMoment, showSpan, usedParts } from '../../parts/format.ts';

const OUTCOMES = {
  open: { word: 'Working', phase: 'in_progress', Icon: CircleDot },
  completed: { word: 'Completed', phase: 'completed', Icon: CircleCheck },
  failed: { word: 'Failed', phase: 'failed', Icon: CircleX },
  released: { word: 'Given back', phase: 'pending', Icon: Undo2 },
} as const;

/** Who worked on a task, one line each, the newest first; a line opens its log, if there is one. */
export function Attempts({
  attempts,
  onOpen,
}: {
  attempts: readonly Attempt[];
  onOpen: ((attempt: Attempt) => void) | undefined;
}) {
  if (attempts.length === 0) return null;
  return (
    <section className="sheet-part">
      <h3>{attempts.length === 1 ? 'Attempt' : `${attempts.length} attempts`}</h3>
      <ul className="attempts">
        {attempts.toReversed().map((attempt) => (
          <li key={attempt.number}>
            {onOpen ? (
              <button type="button" onClick={() => onOpen(attempt)} aria-label={`Log of attempt ${attempt.number}`}>
                <AttemptLine attempt={attempt} />
                <ChevronRight size={15} aria-hidden />
              </button>
            ) : (
              <AttemptLine attempt={attempt} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** An attempt in one line: who, how it ended, how long, how much. */
export function AttemptLine({ attempt }: { attempt: Attempt }) {
  const now = useTeamNow();
  const { number, memberId, since, until = now, outcome, words, rejections, usage } = attempt;
  const { word, phase, Icon } = OUTCOMES[outcome];
  const facts = [
    showSpan(Math.max(0, until - since)),
    ...usedParts(usage),
    rejections > 0 ? `sent back ${plural(rejections, 'time')}` : '',
  ].filter(Boolean);
  return (
    <span className="attempt">
      <span className="row">
        <span className="mono quiet">{number}</span>
        <b className="one-line">{memberId}</b>
        <span className={`status is-${phase}`}>
          <Icon size={14} aria-hidden /> {word}
        </span>
        <span className="spacer" />
        <span className="meta" title={showMoment(since)}>
          {facts.join(' · ')}
        </span>
      </span>
      {outcome !== 'completed' && words !== '' && (
        <span className="one-line meta attempt-words">{showControls(words.trim().split('\n', 1)[0] ?? '')}</span>
      )}
    </span>
  );
}

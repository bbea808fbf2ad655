import { ScrollText } from 'lucide-react';
import { useEffect, useMemo } from 'react';
import { teamPath } from '../../data/route.ts';
import type { Attempt } from '../../data/task-attempts.ts';
import { ChoiceField } from '../../forms/form.tsx';
import { LogStore } from '../../log/log-store.ts';
import { Log } from '../../log/log.tsx';
import { Empty } from '../../parts/empty.tsx';
import { showClock } from '../../parts/format.ts';
import { Link } from '../../parts/link.tsx';
import { AttemptLine } from './attempts.tsx';

/** The last entries of an attempt are written a moment after it ended: the verdict, the end of the turn. */
const AFTER_MS = 3_000;

/** The whole log of one attempt at a task. It opens at its end, where a failure is. */
export function LogPart({
  teamId,
  attempts,
  chosen,
  onChoose,
}: {
  teamId: string;
  attempts: readonly Attempt[];
  /** The number of the attempt; the last one without it. */
  chosen: number | undefined;
  onChoose: (number: number) => void;
}) {
  const attempt = attempts.find(({ number }) => number === chosen) ?? attempts.at(-1);
  if (!attempt) {
    return (
      <Empty icon={ScrollText} title="No attempt yet">
        <p className="quiet">The log appears here when somebody works on it.</p>
      </Empty>
    );
  }
  return (
    <div className="sheet-log">
      <div className="sheet-log-head">
        {attempts.length > 1 ? (
          <ChoiceField
            label="Attempt"
            value={String(attempt.number)}
            choices={attempts.map(
              ({ number, memberId, since }) => [String(number), `${number}: ${memberId}, ${showClock(since)}`] as const,
            )}
            onChange={(number) => onChoose(Number(number))}
          />
        ) : (
          <AttemptLine attempt={attempt} />
        )}
        <Link href={teamPath(teamId, `/m/${encodeURIComponent(attempt.memberId)}`)}>
          All of {attempt.memberId}’s transcript
        </Link>
      </div>
      <AttemptLog key={attempt.number} teamId={teamId} attempt={attempt} />
    </div>
  );
}

function AttemptLog({ teamId, attempt }: { teamId: string; attempt: Attempt }) {
  const { memberId, since, until } = attempt;
  const store = useMemo(
    () => new LogStore(teamId, memberId, { since, ...(until !== undefined && { until: until + AFTER_MS }) }),
    [teamId, memberId, since, until],
  );
  useEffect(() => () => store.close(), [store]);
  return (
    <Log
      store={store}
      opening="end"
      name={`Log of attempt ${attempt.number}`}
      empty={
        <Empty icon={ScrollText} title="No log of this attempt">
          <p className="quiet">Nobody wrote a transcript: a person worked on it, or it was removed.</p>
        </Empty>
      }
    />
  );
}

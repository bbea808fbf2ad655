import { ScrollText } from 'lucide-react';
import { useEffect, useMemo } from 'react';
import { LogStore } from '../log/log-store.ts';
import { Log } from '../log/log.tsx';
import { Empty } from '../parts/empty.tsx';

/** What a member does and is told, live, and all that it did before. */
export function Transcript({
  teamId,
  memberId,
  isPerson,
  isOver,
  at,
}: {
  teamId: string;
  memberId: string;
  isPerson: boolean;
  /** Whether the member has stopped, so that nothing more comes. */
  isOver: boolean;
  /** The entry to begin with; without it, the last one. */
  at: { readonly session: string; readonly place: number } | undefined;
}) {
  const store = useMemo(() => new LogStore(teamId, memberId), [teamId, memberId]);
  useEffect(() => () => store.close(), [store]);
  return (
    <div className="transcript">
      <Log
        store={store}
        opening={at ?? 'end'}
        name={`Transcript of ${memberId}`}
        empty={
          <Empty icon={ScrollText} title={isPerson ? 'A person' : isOver ? 'Nothing' : 'Nothing yet'}>
            <p className="quiet">
              {isPerson
                ? `No agent works for ${memberId}, so there is no transcript.`
                : isOver
                  ? `No transcript of ${memberId} is kept here.`
                  : `The transcript of ${memberId} appears here as it happens.`}
            </p>
          </Empty>
        }
      />
    </div>
  );
}

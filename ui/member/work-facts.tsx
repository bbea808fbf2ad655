import { FileDiff } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ResultOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';
import { diffPath } from '../data/route.ts';
import { useTeam } from '../data/use-team.tsx';
import { Counts } from '../diff/file-words.tsx';
import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';
import { showControls } from '../parts/controls.ts';
import { Fact } from '../parts/fact.tsx';
import { FailureNote } from '../parts/failure.tsx';
import { plural, showMoment } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { TaskLine } from '../team/task-line.tsx';

/** The workspace of a member: where it is, how far behind, what is not handed in, what conflicts and what is kept. */
export function WorkFacts({ teamId, memberId }: { teamId: string; memberId: string }) {
  const { shown, failure } = useWork(teamId, memberId);
  const moment = useTeam(({ moment }) => moment);
  const tasks = useTeam(({ view }) => view.tasks);
  const conflicted = tasks.filter(({ task: { work } }) => work?.memberId === memberId && work.state === 'conflicted');
  const own = shown?.members?.[0];
  const kept = shown?.kept ?? [];
  const isPast = moment !== undefined;
  return (
    <section className="member-work" aria-label="Workspace">
      <div className="row">
        <h3>Workspace</h3>
        <span className="spacer" />
        <Link className="button small" href={diffPath(teamId, memberId, moment)}>
          <FileDiff size={14} aria-hidden /> Diff
        </Link>
      </div>
      <FailureNote failure={failure} />
      <dl className="facts">
        {own && !isPast && (
          <>
            <Fact name="Not handed in">
              {own.files === 0 ? 'nothing' : plural(own.files, 'file')}{' '}
              <Counts added={own.added} removed={own.removed} />
            </Fact>
            <Fact name="Branch">{own.behind === 0 ? 'up to date' : `${plural(own.behind, 'commit')} behind`}</Fact>
            <Fact name="Began from">
              <span className="mono">{own.base.slice(0, 7)}</span>
            </Fact>
            <Fact name="Last save">
              {own.save === undefined ? 'none since' : <span className="mono">{own.save.slice(0, 7)}</span>}
            </Fact>
            <Fact name="On the disk">{showBytes(own.size)}</Fact>
            <Fact name="TROUPE_SLOT">{own.slot}</Fact>
            <Fact name="Folder" isWide>
              <span className="mono">{showControls(own.folder)}</span>
            </Fact>
          </>
        )}
        {shown && !own && !isPast && <Fact name="Folder">not made yet</Fact>}
        {kept.length > 0 && !isPast && (
          <Fact name="Kept, on no branch" isWide>
            {kept.map(({ commit, at }) => (
              <span key={commit} className="mono" title={showMoment(at)}>
                {commit.slice(0, 7)}{' '}
              </span>
            ))}
          </Fact>
        )}
      </dl>
      {conflicted.length > 0 && (
        <div>
          <h4 className="label">Conflicts with the branch</h4>
          {conflicted.map((view) => (
            <TaskLine key={view.id} teamId={teamId} view={view} id={view.id} />
          ))}
        </div>
      )}
    </section>
  );
}

/** Where a member works, and what it has not handed in. */
interface MemberWork {
  readonly shown: ResultOf<'work.show'> | undefined;
  readonly failure: Failure | undefined;
}

/** Saves are no events, so they are asked for. The daemon makes one every 30 seconds. */
const PERIOD_MS = 15_000;

/** Keeps the work of a member up to date while it is shown. */
function useWork(teamId: string, memberId: string): MemberWork {
  const [work, setWork] = useState<MemberWork>({ shown: undefined, failure: undefined });
  // What changes when a task is begun or its work lands.
  const tip = useTeam(({ view }) => view.team?.work?.tip);
  const held = useTeam(({ view }) => view.held.get(memberId)?.work?.base);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const read = async (): Promise<void> => {
      if (document.hidden) return;
      try {
        const shown = await call('work.show', { teamId, memberId }, { signal });
        if (!signal.aborted) setWork({ shown, failure: undefined });
      } catch (error) {
        if (!signal.aborted) setWork((before) => ({ ...before, failure: failureOf(error) }));
      }
    };
    void read();
    const timer = setInterval(() => void read(), PERIOD_MS);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [teamId, memberId, tip, held]);
  return work;
}

function showBytes(bytes: number): string {
  if (bytes < 1024 * 1024) return `${Math.ceil(bytes / 1024)} KB`;
  const mb = bytes / 1024 / 1024;
  return mb < 1024 ? `${mb.toFixed(mb < 10 ? 1 : 0)} MB` : `${(mb / 1024).toFixed(1)} GB`;
}

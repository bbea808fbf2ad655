import { useEffect, useState } from 'react';
import { call } from '../../data/daemon.ts';
import type { AskedFiles, Change } from '../../data/diff-store.ts';
import { useTeam } from '../../data/use-team.tsx';
import { subjectOf } from '../../diff/asked.ts';
import { ChangeIcon, Counts } from '../../diff/file-words.tsx';
import { showControls } from '../../parts/controls.ts';

/** More files are counted. */
const SHOWN = 8;

/** The files that a task changed; each opens its lines. */
export function ChangedFiles({
  teamId,
  taskId,
  onFile,
}: {
  teamId: string;
  taskId: string;
  onFile: (path?: string) => void;
}) {
  const at = useTeam(({ moment, history }) => (moment === undefined ? undefined : history[moment - 1]?.events[0]?.at));
  const { asked, key } = useTeam(
    ({ state }) => subjectOf(state, taskId, at),
    (a, b) => a.key === b.key,
  );
  const found = useFiles(teamId, asked, key);
  if (!found || found.changes.length === 0) return null;
  return (
    <ul className="work-files">
      {found.changes.slice(0, SHOWN).map((change) => (
        <li key={change.path}>
          <button type="button" onClick={() => onFile(change.path)} title={showControls(change.path)}>
            <ChangeIcon change={change} />
            <bdi className="mono one-line">{showControls(change.path)}</bdi>
            <span className="spacer" />
            <Counts added={change.added} removed={change.removed} />
          </button>
        </li>
      ))}
      {found.files > SHOWN && (
        <li>
          <button type="button" onClick={() => onFile()}>
            {found.files - SHOWN} more
          </button>
        </li>
      )}
    </ul>
  );
}

/** The first files of a difference. A failure is shown where the lines are. */
function useFiles(
  teamId: string,
  asked: AskedFiles | undefined,
  key: string,
): { readonly files: number; readonly changes: readonly Change[] } | undefined {
  const [found, setFound] = useState<{ readonly files: number; readonly changes: readonly Change[] }>();
  useEffect(() => {
    if (!asked) return undefined;
    const stop = new AbortController();
    call('work.files', { teamId, ...asked }, { signal: stop.signal }).then(setFound, () => undefined);
    return () => stop.abort();
  }, [teamId, key]);
  return asked && found;
}

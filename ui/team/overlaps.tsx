import { CircleX, FilePen } from 'lucide-react';
import { overlapRows } from '../../src/client/replica.ts';
import { diffPath } from '../data/route.ts';
import { useTeam } from '../data/use-team.tsx';
import { Avatar } from '../parts/avatar.tsx';
import { showControls } from '../parts/controls.ts';
import { plural } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import './overlaps.css';

/** More would push the members out of sight; `troupe work --json` has them all. */
const SHOWN = 8;

/** Files that several members have changed and not handed in, by member. Nothing if there are none. */
export function Overlaps({ teamId }: { teamId: string }) {
  const overlaps = useTeam(({ view }) => view.overlaps);
  const members = useTeam(({ view }) => view.state.members);
  const moment = useTeam(({ moment }) => moment);
  const rows = overlapRows(overlaps);
  if (rows.length === 0) return null;
  const sides = overlaps.filter(({ files }) => files > 0).flatMap((overlap) => overlap.sides);
  const tasks = new Map(sides.map(({ memberId, taskId }) => [memberId, taskId]));
  const columns = [...tasks].sort(([, a], [, b]) => Number(a) - Number(b));
  const conflicts = rows.filter(({ conflicting }) => conflicting.length > 0).length;
  const left = rows.length - SHOWN;
  return (
    <section className="overlaps" aria-label="Overlaps">
      <h2 className="side-head">
        Overlaps <span className="quiet">{plural(rows.length, 'file')}</span>
        {conflicts > 0 && <span className="overlap-bad">{conflicts} would conflict</span>}
      </h2>
      <div className="overlap-scroll" tabIndex={0} role="group" aria-label="Files by member">
        <table>
          <thead>
            <tr>
              <th scope="col">
                <span className="hidden">File</span>
              </th>
              {columns.map(([memberId, taskId]) => (
                <th key={memberId} scope="col">
                  <Link href={diffPath(teamId, memberId, moment)} title={`${memberId}, #${taskId}: what it changed`}>
                    <Avatar name={memberId} color={members.get(memberId)?.color} size={20} />
                    <span className="hidden">{memberId}</span>
                  </Link>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN).map(({ path, members: who, conflicting }) => (
              <tr key={path}>
                <th scope="row" className="mono" title={showControls(path)}>
                  <PathEnd path={showControls(path)} />
                </th>
                {columns.map(([memberId]) => (
                  <td key={memberId}>
                    <Mark isChanged={who.includes(memberId)} isConflict={conflicting.includes(memberId)} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {left > 0 && <p className="meta">and {plural(left, 'more file')}</p>}
      </div>
    </section>
  );
}

/** The name of a file stays whole; its folders are cut. */
function PathEnd({ path }: { path: string }) {
  const slash = path.lastIndexOf('/') + 1;
  return (
    <span className="overlap-path">
      <span className="one-line quiet">{path.slice(0, slash)}</span>
      <span className="one-line">{path.slice(slash)}</span>
    </span>
  );
}

function Mark({ isChanged, isConflict }: { isChanged: boolean; isConflict: boolean }) {
  if (!isChanged) return null;
  const Icon = isConflict ? CircleX : FilePen;
  const words = isConflict ? 'conflicts' : 'changed it';
  return (
    <span className={isConflict ? 'overlap-bad' : 'overlap-mark'} title={words}>
      <Icon size={15} aria-hidden />
      <span className="hidden">{words}</span>
    </span>
  );
}

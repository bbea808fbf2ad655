import { showBytes } from '../../../core/bytes.ts';
import { shortId } from '../../../core/commit-id.ts';
import { shellWord } from '../../../core/shell.ts';
import type { ResultOf } from '../../../operations/index.ts';
import type { Screen } from '../screen.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { clean } from '../text.ts';
import { showRemaining, showTime } from '../time.ts';
import { toType } from '../to-type.ts';
import { count, details } from './details.ts';

type Leftovers = ResultOf<'work.leftovers'>;

const KINDS = {
  trash: 'folder in the trash',
  kept: 'work on no branch',
  branch: 'branch of a deleted team',
} as const;

/** What was left behind, and how to look at it and remove it. */
export function showLeftovers(left: Leftovers, screen: Screen): string {
  if (left.length === 0) return 'Nothing was left behind.\n';
  const rows = left.map((one): Cell[] => [
    { text: shortId(one.id), style: 'bold' },
    KINDS[one.kind],
    one.of,
    showTime(one.at, screen),
    one.size === undefined ? (one.files === undefined ? '' : count(one.files, 'file')) : showBytes(one.size),
    one.goesAt === undefined ? { text: 'until you remove it', style: 'dim' } : keptFor(one.goesAt, screen),
  ]);
  const columns = [
    { title: 'ID' },
    { title: 'WHAT' },
    { title: 'OF', flexible: true },
    { title: 'SINCE' },
    { title: 'SIZE', align: 'right' },
    { title: 'KEPT' },
  ] as const;
  const work = left.find(({ ref }) => ref !== undefined);
  const fetch =
    work && `git fetch ${shellWord(clean(work.path))} ${shellWord(clean(work.ref ?? ''))} && git log -p FETCH_HEAD`;
  const look = fetch === undefined ? '' : toType('To look at such work, in your repository', fetch, screen);
  return `${table(columns, rows, screen)}\n${look}${toType('To remove some of it for good', 'troupe work clean ID…', screen)}`;
}

/** How long something is still kept; for files and programs, until when. */
function keptFor(goesAt: string, screen: Screen): string {
  const left = Date.parse(goesAt) - screen.now;
  if (!screen.isTerminal) return `until ${goesAt}`;
  return left > 0 ? `for ${showRemaining(left)}` : 'no longer';
}

/** What was removed. */
export function showRemoved(removed: Leftovers): string {
  if (removed.length === 0) return 'There was nothing to remove.\n';
  return `Removed for good: ${removed.map(nameLeftover).join(', ')}.\n`;
}

/** One thing, for a sentence. */
export function nameLeftover({ id, kind, of }: Leftovers[number]): string {
  return `${shortId(id)} (${KINDS[kind]}, ${clean(of)})`;
}

/** What workspaces take on the disk. */
export function showDisk({ workspaces, depots, trash, teams }: ResultOf<'work.disk'>, screen: Screen): string {
  const head = details(
    [
      ['workspaces', showBytes(workspaces)],
      ['repositories', showBytes(depots)],
      ['trash', showBytes(trash)],
    ],
    screen,
  );
  if (teams.length === 0) return head;
  const rows = teams.map(({ teamId, used, limit }): Cell[] => [
    { text: teamId, style: 'bold' },
    showBytes(used),
    showBytes(limit),
  ]);
  const columns = [
    { title: 'TEAM', flexible: true },
    { title: 'TAKES', align: 'right' },
    { title: 'LIMIT', align: 'right' },
  ] as const;
  return `${head}\n${table(columns, rows, screen)}`;
}

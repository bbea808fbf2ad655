import { shortId } from '../../../core/commit-id.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { paint } from '../screen.ts';
import type { Screen, Style } from '../screen.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { clean, visibleLines } from '../text.ts';
import { sizeOf } from '../work-size.ts';

type Diff = ResultOf<'work.diff'>;

/** A difference, as files or line by line. */
export function showDifference(diff: Diff, screen: Screen, { stat }: { readonly stat: boolean }): string {
  return stat ? showStat(diff, screen) : showDiff(diff, screen);
}

function headOf({ title, from, to, files, added, removed }: Diff, screen: Screen): string {
  const size = files === 0 ? 'no changes' : sizeOf({ files, added, removed });
  return `${paint(screen, 'bold', clean(title))}: ${size}, ${shortId(from)}..${shortId(to)}\n`;
}

function showStat(diff: Diff, screen: Screen): string {
  const rows = diff.changes.map((change): Cell[] => [
    change.status,
    change.added === undefined ? 'binary' : `+${change.added} -${change.removed ?? 0}`,
    change.from === undefined ? change.path : `${change.from} => ${change.path}`,
  ]);
  const columns = [{ title: '' }, { title: '' }, { title: '', flexible: true }] as const;
  const lines = rows.length === 0 ? '' : table(columns, rows, screen).replace(/^\s*\n/, '');
  return `${headOf(diff, screen)}${lines}`;
}

function showDiff(diff: Diff, screen: Screen): string {
  const lines = visibleLines(diff.text.trimEnd()).map((line) => paint(screen, styleOf(line), line));
  const cut = diff.isCut ? ['', 'The rest is left out here: troupe diff --stat lists all files.'] : [];
  return `${headOf(diff, screen)}${[...lines, ...cut].map((line) => `${line}\n`).join('')}`;
}

function styleOf(line: string): Style | undefined {
  if (/^(?:diff --git|index |--- |\+\+\+ |new file|deleted file|similarity|rename )/.test(line)) return 'bold';
  if (line.startsWith('@@')) return 'cyan';
  if (line.startsWith('+')) return 'green';
  return line.startsWith('-') ? 'red' : undefined;
}

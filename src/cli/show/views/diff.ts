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

/** A part of the files that differ. */
export function showFiles(page: ResultOf<'work.files'>, screen: Screen): string {
  const changes = page.changes.map(({ previous, ...change }) => ({
    ...change,
    ...(previous !== undefined && { from: previous }),
  }));
  const more = page.next === undefined ? '' : `There are more: --after ${page.next}\n`;
  return `${showStat({ ...page, changes }, screen)}${more}`;
}

/** A part of the lines that differ in a file. */
export function showLines({ hunks, next, folded }: ResultOf<'work.lines'>, screen: Screen): string {
  const text = hunks.flatMap(({ oldStart, newStart, heading, lines }) => [
    `@@ -${oldStart} +${newStart} @@ ${heading}`.trimEnd(),
    ...lines,
  ]);
  const found = text.flatMap((line) => visibleLines(line)).map((line) => paint(screen, styleOf(line), line));
  if (found.length === 0) found.push(folded === undefined ? 'No line differs.' : `The file is ${folded}: --whole`);
  if (next !== undefined) found.push(`There are more: --after ${next}`);
  return `${found.join('\n')}\n`;
}

type Compared = Pick<Diff, 'title' | 'from' | 'to' | 'files' | 'added' | 'removed'>;

function headOf({ title, from, to, files, added, removed }: Compared, screen: Screen): string {
  const size = files === 0 ? 'no changes' : sizeOf({ files, added, removed });
  return `${paint(screen, 'bold', clean(title))}: ${size}, ${shortId(from)}..${shortId(to)}\n`;
}

function showStat(diff: Compared & Pick<Diff, 'changes'>, screen: Screen): string {
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

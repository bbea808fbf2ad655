import type { Screen } from './screen.ts';
import { visibleLines, wrap } from './text.ts';

/** More empty lines than this are counted: they would push the end of a text out of sight. */
const EMPTY_LINES = 2;

/** So are more spaces than this in a row. */
const SPACES = / {40,}/g;

/**
 * Foreign text that a person approves: to its end, with every character visible. A wrapped line is marked, because a
 * line break may change what a command does.
 */
export function wholeText(text: string, { columns }: Pick<Screen, 'columns'>, indent = '  '): string {
  const width = Math.max(16, columns - indent.length - 2);
  const rows = withoutGaps(visibleLines(text)).flatMap((line) =>
    wrapKeeping(line.replace(SPACES, countSpaces), width).map((part, i) =>
      `${indent}${i === 0 ? '│' : '┆'} ${part}`.trimEnd(),
    ),
  );
  return `${rows.join('\n')}\n`;
}

/** Wraps a line and keeps its indent, which shows the structure of a plan. */
function wrapKeeping(line: string, width: number): string[] {
  if (width === Infinity) return [line];
  const indent = (/^ */.exec(line)?.[0] ?? '').slice(0, width / 2);
  return wrap(line.trimStart(), width - indent.length).map((part) => `${indent}${part}`);
}

function countSpaces(spaces: string): string {
  return ` (${spaces.length} spaces) `;
}

function withoutGaps(lines: readonly string[]): string[] {
  const shown: string[] = [];
  let empty = 0;
  const close = (): void => {
    if (empty > EMPTY_LINES) shown.push(`(${empty} empty lines)`);
    else shown.push(...Array.from({ length: empty }, () => ''));
    empty = 0;
  };
  for (const line of lines) {
    if (line.trim() === '') {
      empty += 1;
      continue;
    }
    close();
    shown.push(line);
  }
  close();
  return shown;
}

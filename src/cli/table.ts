import { paint } from './screen.ts';
import type { Screen, Style } from './screen.ts';
import { cut, measure, widthOf } from './text.ts';

/** What stands in one cell. It is cleaned here, so nothing foreign reaches a terminal as it came. */
export type Cell = string | { readonly text: string; readonly style?: Style | undefined };

/** A column. One may be flexible: it gives way when the terminal is too narrow for all. */
export interface Column {
  readonly title: string;
  readonly align?: 'right';
  readonly flexible?: true;
}

const GAP = 2;
const LEAST = 8;

/** Rows under a head, each column as wide as its widest cell; a column without any text is left out. */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], screen: Screen): string {
  // Loops, and no more objects than there are cells: this is the last step of most commands, and runs cold.
  const widest = columns.map(() => 0);
  const cells: PlainCell[][] = [];
  for (const row of rows) {
    const line: PlainCell[] = [];
    for (let at = 0; at < columns.length; at++) {
      const cell = toCell(row[at] ?? '');
      line.push(cell);
      if (cell.width > (widest[at] ?? 0)) widest[at] = cell.width;
    }
    cells.push(line);
  }
  const widths = fitWidths(columns, widest, screen.columns);
  const head = columns.map(({ title }): PlainCell => ({ text: title, width: title.length, style: 'dim' }));
  let text = '';
  for (const line of [head, ...cells]) text += `${lineOf(line, { columns, widths, screen })}\n`;
  return text;
}

interface PlainCell {
  readonly text: string;
  readonly width: number;
  readonly style: Style | undefined;
}

function toCell(cell: Cell): PlainCell {
  const isPlain = typeof cell === 'string';
  const { text, width } = measure(isPlain ? cell : cell.text);
  return { text, width, style: isPlain ? undefined : cell.style };
}

/** A width of 0 stands for a column that is left out. Too much is taken from flexible columns first, then the widest. */
function fitWidths(columns: readonly Column[], widest: readonly number[], total: number): number[] {
  const widths = widest.map((width, at) => (width === 0 ? 0 : Math.max(width, columns[at]?.title.length ?? 0)));
  let excess = -total - GAP;
  for (const width of widths) if (width > 0) excess += width + GAP;
  const shrink = (at: number, to: number): void => {
    const now = widths[at] ?? 0;
    const less = Math.min(excess, Math.max(0, now - to));
    widths[at] = now - less;
    excess -= less;
  };
  if (excess > 0) columns.forEach(({ flexible }, at) => flexible && shrink(at, LEAST));
  while (excess > 0) {
    const at = widths.indexOf(Math.max(...widths));
    const now = widths[at] ?? 0;
    if (now <= LEAST) break;
    shrink(at, now - 1);
  }
  return widths;
}

interface Layout {
  readonly columns: readonly Column[];
  readonly widths: readonly number[];
  readonly screen: Screen;
}

function lineOf(cells: readonly PlainCell[], { columns, widths, screen }: Layout): string {
  let line = '';
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at];
    const width = widths[at] ?? 0;
    if (!cell || width === 0) continue;
    const text = cell.width > width ? cut(cell.text, width) : cell.text;
    const space = ' '.repeat(width - (cell.width > width ? widthOf(text) : cell.width));
    const painted = paint(screen, cell.style, text);
    const gap = line === '' ? '' : ' '.repeat(GAP);
    line += gap + (columns[at]?.align === 'right' ? space + painted : painted + space);
  }
  return line.trimEnd();
}

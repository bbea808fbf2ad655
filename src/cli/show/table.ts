import { paint } from './screen.ts';
import type { Screen, Style } from './screen.ts';
import { cut, cutPath, fold, measure, widthOf } from './text.ts';

/** The content of a cell. The table cleans it, so that no control characters reach the terminal. */
export type Cell =
  | string
  | {
      readonly text: string;
      readonly style?: Style | undefined;
      /** A shorter text for narrow terminals. */
      readonly short?: string;
    };

/** A column, and how it shrinks when the terminal is too narrow. */
export interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** It may be cut. */
  readonly flexible?: true;
  /** What stays if it is cut; the beginning unless told. The ends of paths tell them apart. */
  readonly keeps?: 'end';
  /** It may be left out; the highest number goes first. */
  readonly spare?: number;
}

const GAP = 2;
/** A flexible column narrower than this says little, so other columns are left out first. */
const COMFORT = 20;
const LEAST = 8;

/** Rows under a header. Each column is as wide as its widest cell; a column without text is left out. */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], screen: Screen): string {
  // Plain loops, and no more objects than cells: this is the last step of most commands, and runs without JIT.
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
  const widths = widest.map((width, at) => (width === 0 ? 0 : Math.max(width, columns[at]?.title.length ?? 0)));
  const head = columns.map(({ title }): PlainCell => ({ text: title, width: title.length, style: 'dim' }));
  const lines = [head, ...cells];
  if (excessOf(widths, screen.columns) > 0) makeFit(columns, lines, widths, screen.columns);
  let text = '';
  for (const line of lines) text += `${lineOf(line, { columns, widths, screen })}\n`;
  return text;
}

/** Two columns. The second is never cut but wrapped under its beginning, so that it can be read and copied. */
export function pairs(columns: readonly [Column, Column], rows: readonly (readonly Cell[])[], screen: Screen): string {
  const whole = table(columns, rows, { ...screen, columns: Infinity });
  const left = Math.max(columns[0].title.length, ...rows.map(([cell = '']) => toCell(cell).width));
  return fold(whole, screen, left + GAP);
}

interface PlainCell {
  text: string;
  width: number;
  readonly style: Style | undefined;
  readonly short?: string | undefined;
}

function toCell(cell: Cell): PlainCell {
  if (typeof cell === 'string') return { ...measure(cell), style: undefined };
  return { ...measure(cell.text), style: cell.style, short: cell.short };
}

/** How many columns are missing. A width of 0 means a column that is left out. */
function excessOf(widths: readonly number[], total: number): number {
  let excess = -total - GAP;
  for (const width of widths) if (width > 0) excess += width + GAP;
  return excess;
}

/** First leaves out spare columns, then uses short texts, then cuts texts: flexible columns first, then the widest. */
function makeFit(columns: readonly Column[], lines: readonly PlainCell[][], widths: number[], total: number): void {
  const atEase = (): number =>
    excessOf(
      widths.map((width, at) => (columns[at]?.flexible ? Math.min(width, COMFORT) : width)),
      total,
    );
  const spares = columns
    .map(({ spare = 0 }, at) => ({ spare, at }))
    .filter(({ spare, at }) => spare > 0 && (widths[at] ?? 0) > 0)
    .sort((a, b) => b.spare - a.spare);
  for (const { at } of spares) if (atEase() > 0) widths[at] = 0;
  if (atEase() > 0) shortenCells(columns, lines, widths);
  let excess = excessOf(widths, total);
  /** Narrows the widest column until the next is as wide. */
  const narrow = (some: readonly number[]): void => {
    while (excess > 0) {
      const [at = -1, next = -1] = some.toSorted((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0));
      const now = widths[at] ?? 0;
      if (now <= LEAST) break;
      const to = Math.max(LEAST, Math.min(now - 1, widths[next] ?? 0));
      const less = Math.min(excess, now - to);
      widths[at] = now - less;
      excess -= less;
    }
  };
  const all = [...columns.keys()];
  narrow(all.filter((at) => columns[at]?.flexible));
  narrow(all);
}

/** Uses the short texts. A column of marks needs no title. */
function shortenCells(columns: readonly Column[], [head, ...rows]: readonly PlainCell[][], widths: number[]): void {
  for (let at = 0; at < columns.length; at++) {
    if ((widths[at] ?? 0) === 0 || !rows.some((row) => row[at]?.short !== undefined)) continue;
    widths[at] = 0;
    for (const row of head ? [head, ...rows] : rows) {
      const cell = row[at];
      if (!cell) continue;
      cell.text = row === head ? '' : (cell.short ?? cell.text);
      cell.width = widthOf(cell.text);
      widths[at] = Math.max(widths[at] ?? 0, cell.width);
    }
  }
}

interface Layout {
  readonly columns: readonly Column[];
  readonly widths: readonly number[];
  readonly screen: Screen;
}

function lineOf(cells: readonly PlainCell[], { columns, widths, screen }: Layout): string {
  let line = '';
  let isFirst = true;
  for (let at = 0; at < cells.length; at++) {
    const cell = cells[at];
    const width = widths[at] ?? 0;
    if (!cell || width === 0) continue;
    const text = cell.width > width ? cutCell(cell, width, columns[at]) : cell.text;
    const space = ' '.repeat(width - (cell.width > width ? widthOf(text) : cell.width));
    const painted = paint(screen, cell.style, text);
    const gap = isFirst ? '' : ' '.repeat(GAP);
    line += gap + (columns[at]?.align === 'right' ? space + painted : painted + space);
    isFirst = false;
  }
  return line.trimEnd();
}

function cutCell({ text }: PlainCell, width: number, column: Column | undefined): string {
  return column?.keeps === 'end' ? cutPath(text, width) : cut(text, width);
}

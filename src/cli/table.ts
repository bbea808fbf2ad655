import { paint } from './screen.ts';
import type { Screen, Style } from './screen.ts';
import { clean, cut, widthOf } from './text.ts';

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
  const cells = rows.map((row) => row.map((cell) => toCell(cell)));
  const used = columns
    .map((column, at) => ({ column, at, widest: Math.max(0, ...cells.map((row) => row[at]?.width ?? 0)) }))
    .filter(({ widest }) => widest > 0);
  const widths = fitWidths(
    used.map(({ column, widest }) => ({ width: Math.max(widest, column.title.length), flexible: column.flexible })),
    screen.columns,
  );
  const line = (texts: readonly PlainCell[]): string =>
    used
      .map(({ column }, at) => padCell(texts[at] ?? EMPTY, { column, width: widths[at] ?? 0, screen }))
      .join(' '.repeat(GAP))
      .trimEnd();
  const head = line(used.map(({ column }) => ({ text: column.title, width: column.title.length, style: 'dim' })));
  const body = cells.map((row) => line(used.map(({ at }) => row[at] ?? EMPTY)));
  return `${[head, ...body].join('\n')}\n`;
}

interface PlainCell {
  readonly text: string;
  readonly width: number;
  readonly style: Style | undefined;
}

const EMPTY: PlainCell = { text: '', width: 0, style: undefined };

function toCell(cell: Cell): PlainCell {
  const text = clean(typeof cell === 'string' ? cell : cell.text);
  return { text, width: widthOf(text), style: typeof cell === 'string' ? undefined : cell.style };
}

/** Takes what is too much from the flexible column first, then from the widest. */
function fitWidths(columns: readonly { width: number; flexible?: true | undefined }[], total: number): number[] {
  const widths = columns.map(({ width }) => width);
  let excess = widths.reduce((sum, width) => sum + width, 0) + GAP * (widths.length - 1) - total;
  const shrink = (at: number, to: number): void => {
    const now = widths[at] ?? 0;
    const less = Math.min(excess, Math.max(0, now - to));
    widths[at] = now - less;
    excess -= less;
  };
  if (excess > 0) columns.forEach(({ flexible }, at) => flexible && shrink(at, LEAST));
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= LEAST) break;
    shrink(widest, Math.max(LEAST, (widths[widest] ?? 0) - 1));
  }
  return widths;
}

function padCell(cell: PlainCell, options: { column: Column; width: number; screen: Screen }): string {
  const { column, width, screen } = options;
  const text = cell.width > width ? cut(cell.text, width) : cell.text;
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  const painted = paint(screen, cell.style, text);
  return column.align === 'right' ? space + painted : painted + space;
}

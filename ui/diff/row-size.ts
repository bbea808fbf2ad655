import { LONG_LINE } from './code.tsx';
import type { Line, Row } from './rows.ts';

/** Heights of rows in pixels, and the width of a character; the style sheet has the same. */
export const LINE_HEIGHT = 20;
export const FILE_HEIGHT = 40;
export const CHARACTER = 7.2;
const NOTE_HEIGHT = 48;
/** Browsers limit the height of an element, and one that is not here need not be true to scale. */
const MOST = 100_000;

/** The height of lines that are not here yet. */
export function waitHeight(lines: number): number {
  return Math.min(MOST, lines * LINE_HEIGHT);
}

/** The likely height of a row; it is measured when it is shown. */
export function estimateRow(row: Row | undefined, columns: number): number {
  if (!row) return LINE_HEIGHT;
  switch (row.kind) {
    case 'file':
      return FILE_HEIGHT;
    case 'hunk':
      return LINE_HEIGHT + 8;
    case 'line':
      return heightOf(row.line, columns);
    case 'pair':
      return Math.max(heightOf(row.left, columns), heightOf(row.right, columns));
    case 'wait':
      return waitHeight(row.lines);
    case 'note':
      return NOTE_HEIGHT;
  }
}

function heightOf(line: Line | undefined, columns: number): number {
  const length = Math.min(line?.text.length ?? 0, LONG_LINE);
  return LINE_HEIGHT * Math.max(1, Math.ceil(length / columns));
}

import type { Change, FileLines, Hunk } from '../data/diff-store.ts';

/** Unified: one column. Split: before and after side by side. */
export type Layout = 'unified' | 'split';

/** One line of a file, on one side. */
export interface Line {
  readonly sign: ' ' | '+' | '-';
  /** Its numbers before and after; a line has those of the sides that it is on. */
  readonly old: number | undefined;
  readonly fresh: number | undefined;
  readonly text: string;
  /** Its whole length, if `text` is only the beginning. */
  readonly length: number | undefined;
  /** The file ends here, without a newline. */
  isLast: boolean;
  /** The line that it replaces or that replaces it. */
  partner: Line | undefined;
  /** Its hunk, and its place among the lines of it. */
  readonly hunk: Hunk;
  readonly place: number;
}

/** One row of the list. */
export type Row =
  | { readonly kind: 'file' }
  | { readonly kind: 'hunk'; readonly hunk: Hunk }
  | { readonly kind: 'line'; readonly line: Line }
  | { readonly kind: 'pair'; readonly left: Line | undefined; readonly right: Line | undefined }
  /** Lines that are not here yet. */
  | { readonly kind: 'wait'; readonly lines: number }
  /** Lines that are shown on request, or are none. */
  | { readonly kind: 'note'; readonly note: Note };

/** Why a file has no lines here. */
export type Note = 'binary' | 'large' | 'long' | 'too-large' | 'failed' | 'same';

/** Files with more changed lines are folded at first. */
export const LONG_LINES = 2_000;

const CONTEXT = 8;

/** The rows of one file. */
export function rowsOf(
  change: Change,
  lines: FileLines,
  { layout, isFolded, isWanted }: { layout: Layout; isFolded: boolean; isWanted: boolean },
): readonly Row[] {
  const head: Row = { kind: 'file' };
  if (isFolded) return [head];
  const note = isWanted ? undefined : noteOf(change);
  if (note && lines.phase === 'away') return [head, { kind: 'note', note }];
  if (lines.phase === 'failed') return [head, { kind: 'note', note: 'failed' }];
  const expected = Math.max(1, (change.added ?? 0) + (change.removed ?? 0) + CONTEXT);
  const isPartly = lines.phase === 'loading' && lines.hunks.length > 0;
  // Side by side, lines find their partners only when all are here.
  if (lines.phase !== 'ready' && !(isPartly && layout === 'unified')) {
    return [head, { kind: 'wait', lines: lines.of || expected }];
  }
  if (lines.hunks.length === 0) return [head, { kind: 'note', note: emptyNote(lines) }];
  const rows: Row[] = [head];
  for (const hunk of lines.hunks) {
    rows.push({ kind: 'hunk', hunk });
    const found = linesIn(hunk);
    if (layout === 'unified') for (const line of found) rows.push({ kind: 'line', line });
    else pairUp(found, rows);
  }
  if (lines.done < lines.of) rows.push({ kind: 'wait', lines: lines.of - lines.done });
  return rows;
}

function noteOf({ folded, added = 0, removed = 0 }: Change): Note | undefined {
  return folded ?? (added + removed > LONG_LINES ? 'long' : undefined);
}

function emptyNote({ folded }: FileLines): Note {
  if (folded === undefined) return 'same';
  return folded === 'binary' ? 'binary' : 'too-large';
}

const read = new WeakMap<Hunk, readonly Line[]>();

/** The lines of a hunk, with their numbers and partners; the same objects each time. */
export function linesIn(hunk: Hunk): readonly Line[] {
  const found = read.get(hunk) ?? readLines(hunk);
  read.set(hunk, found);
  return found;
}

function readLines(hunk: Hunk): Line[] {
  const found: Line[] = [];
  const lengths = new Map(hunk.cut.map(({ line, length }) => [line, length]));
  let { oldStart: old, newStart: fresh } = hunk;
  let removed: Line[] = [];
  let replaced = 0;
  for (const [i, raw] of hunk.lines.entries()) {
    const sign = raw.charAt(0);
    if (sign === '\\') {
      const last = found.at(-1);
      if (last) last.isLast = true;
      continue;
    }
    const line: Line = {
      sign: sign === '+' || sign === '-' ? sign : ' ',
      old: sign === '+' ? undefined : old++,
      fresh: sign === '-' ? undefined : fresh++,
      text: raw.slice(1),
      length: lengths.get(i),
      isLast: false,
      partner: undefined,
      hunk,
      place: found.length,
    };
    if (sign === '-') {
      if (replaced > 0) [removed, replaced] = [[], 0];
      removed.push(line);
    } else if (sign === '+') {
      line.partner = removed[replaced++];
      if (line.partner) line.partner.partner = line;
    } else [removed, replaced] = [[], 0];
    found.push(line);
  }
  return found;
}

/** Puts removed lines beside the lines that replace them. */
function pairUp(lines: readonly Line[], rows: Row[]): void {
  for (let at = 0; at < lines.length;) {
    const line = lines[at] as Line;
    if (line.sign === ' ') {
      rows.push({ kind: 'pair', left: line, right: line });
      at++;
      continue;
    }
    const run = (sign: string): Line[] => {
      const start = at;
      while (lines[at]?.sign === sign) at++;
      return lines.slice(start, at);
    };
    const [left, right] = [run('-'), run('+')];
    for (let i = 0; i < Math.max(left.length, right.length); i++) {
      rows.push({ kind: 'pair', left: left[i], right: right[i] });
    }
  }
}

/** Identifies a row in its file, also in the other layout: by the first number that it has. */
export function nameOf(row: Row): string {
  if (row.kind === 'line') return row.line.fresh === undefined ? `-${row.line.old}` : `+${row.line.fresh}`;
  if (row.kind === 'pair') return row.right ? `+${row.right.fresh}` : `-${row.left?.old}`;
  return row.kind === 'hunk' ? `@${row.hunk.newStart}` : row.kind;
}

/** The part of a line that its partner does not have; undefined if they have too little in common to say so. */
export function changedPart({ text, partner }: Pick<Line, 'text' | 'partner'>): readonly [number, number] | undefined {
  if (!partner) return undefined;
  const other = partner.text;
  const most = Math.min(text.length, other.length);
  let start = 0;
  while (start < most && text[start] === other[start]) start++;
  let end = 0;
  while (end < most - start && text.at(-1 - end) === other.at(-1 - end)) end++;
  // Whole characters: not the second half of a pair of surrogates.
  if (/[\ud800-\udbff]/.test(text[start - 1] ?? '')) start--;
  if (/[\udc00-\udfff]/.test(text[text.length - end] ?? '')) end--;
  const common = text.slice(0, start).trim().length + text.slice(text.length - end).trim().length;
  if (common * 3 < Math.max(text.trim().length, other.trim().length)) return undefined;
  return [start, Math.max(start, text.length - end)];
}

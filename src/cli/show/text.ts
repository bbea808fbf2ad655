/**
 * Characters that control a terminal or are invisible: C0 and C1 controls including ESC, DEL, marks that change the
 * direction of text or hide in it, and tag characters.
 */
const CONTROLS =
  // oxlint-disable-next-line no-control-regex -- these are what it is for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Makes foreign text safe for a terminal, as one line. */
export function clean(text: string): string {
  if (isNarrow(text)) return text;
  return text
    .toWellFormed()
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')
    .replace(CONTROLS, '');
}

/** Makes foreign text safe for a terminal, as lines. */
export function cleanLines(text: string): string[] {
  return text
    .replaceAll('\t', '    ')
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/)
    .map((line) => clean(line));
}

/**
 * Foreign text as lines in which everything is visible: control and invisible characters become `\x1b` or `\u202e`. For
 * texts that a person approves.
 */
export function visibleLines(text: string): string[] {
  return text
    .toWellFormed()
    .replaceAll('\t', '    ')
    .split(/\r?\n/)
    .map((line) => line.replace(CONTROLS, escaped));
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\u{${digits}}`;
}

/** Cleans foreign text, and measures its width. */
export function measure(text: string): { text: string; width: number } {
  if (isNarrow(text)) return { text, width: text.length };
  const cleaned = clean(text);
  return { text: cleaned, width: widthOf(cleaned) };
}

/** The width of a clean text on a terminal, in columns. */
export function widthOf(text: string): number {
  if (isNarrow(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes().segment(text)) width += graphemeWidth(segment);
  return width;
}

/** Cuts a clean text to a width, with … at the end if it was cut. */
export function cut(text: string, width: number): string {
  if (width <= 0) return '';
  if (isNarrow(text)) return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
  let taken = '';
  let used = 0;
  for (const { segment } of graphemes().segment(text)) {
    const next = graphemeWidth(segment);
    if (used + next > width - 1) return widthOf(text) <= width ? text : `${taken}…`;
    // A pile of accents is as wide as one letter, but can be as long as a book.
    taken += segment.slice(0, 32);
    used += next;
  }
  return text;
}

/** Cuts the beginning of a clean path: `…/shop/ann`. */
export function cutPath(path: string, width: number): string {
  if (widthOf(path) <= width) return path;
  let kept = '';
  let left = width - 1;
  for (const { segment } of [...graphemes().segment(path)].reverse()) {
    left -= graphemeWidth(segment);
    if (left < 0) break;
    kept = `${segment}${kept}`;
  }
  // From a whole name on, if one fits.
  const name = kept.indexOf('/');
  return cut(`…${name === -1 ? kept : kept.slice(name)}`, width);
}

/** Wraps a clean text at spaces, into lines of at most `width` columns. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (widthOf(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (widthOf(line) > width) {
      const head = cut(line, width + 1).replace(/…$/, '');
      lines.push(head);
      line = line.slice(head.length);
      if (head === '') return [...lines, line];
    }
  }
  return [...lines, line];
}

/** The width of our own text, without its colour codes. */
export function paintedWidth(text: string): number {
  // oxlint-disable-next-line no-control-regex -- our own colours
  return widthOf(text.replace(/\x1b\[\d+m/g, ''));
}

/**
 * Wraps our own text, which may have colours, at spaces. Following lines get the indent of their first line, else
 * `hang` columns. A word that is too long stays whole, so that it can be copied. So does a command on a line of its own.
 */
export function fold(text: string, { columns }: { readonly columns: number }, hang = 0): string {
  if (columns === Infinity) return text;
  return text
    .split('\n')
    .map((line) => (paintedWidth(line) <= columns || COMMAND.test(line) ? line : foldLine(line, columns, hang)))
    .join('\n');
}

/** A command to type: with a break in it, a shell would run half of it. */
const COMMAND = /^ +(?:cp|git|troupe) /;

function foldLine(line: string, columns: number, hang: number): string {
  const own = /^ */.exec(line)?.[0].length ?? 0;
  // If the indent would take more than half of the screen, there is none.
  const wanted = own > 0 ? own : hang;
  const indent = 2 * wanted > columns ? 0 : wanted;
  const lines: string[] = [];
  let current: string | undefined;
  for (const word of line.slice(own).split(' ')) {
    const longer: string = current === undefined ? `${' '.repeat(own)}${word}` : `${current} ${word}`;
    if (current === undefined || paintedWidth(longer) <= columns) current = longer;
    else {
      lines.push(current);
      // A word that only fits with a smaller indent gets one. Otherwise the terminal would break it anywhere.
      current = `${' '.repeat(Math.max(0, Math.min(indent, columns - paintedWidth(word))))}${word}`;
    }
  }
  return [...lines, current ?? ''].join('\n');
}

/**
 * Whether a text is safe and each code unit is one column wide: Latin letters, punctuation, arrows, boxes and our
 * marks. A regular expression, because a loop gets hot enough for V8 to optimize it, which takes 0.5 ms at the end.
 */
function isNarrow(text: string): boolean {
  return NARROW.test(text);
}

const NARROW = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u25fc\u2713\u2717]*$/;

let segmenter: Intl.Segmenter | undefined;
function graphemes(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter;
}

/** The width of one user-perceived character: emoji and East Asian characters take two columns, accents none. */
function graphemeWidth(segment: string): number {
  patterns ??= {
    none: new RegExp('^[\\p{Mark}\\p{Default_Ignorable_Code_Point}]+$', 'u'),
    emoji: new RegExp('\\p{Emoji_Presentation}|\ufe0f', 'u'),
    wide: new RegExp(`^[${WIDE}]`, 'u'),
  };
  if (patterns.none.test(segment)) return 0;
  if (patterns.wide.test(segment)) return 2;
  return patterns.emoji.test(segment) ? 2 : 1;
}

/** Built on demand: V8 checks literals when it parses the file, which takes 1 to 50 ms. */
let patterns: { none: RegExp; emoji: RegExp; wide: RegExp } | undefined;

/** The blocks that Unicode calls wide or full-width, without emoji, which have their own pattern. */
const WIDE =
  '\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\ua960-\\ua97f\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe10-\\ufe19\\ufe30-\\ufe6f' +
  '\\uff01-\\uff60\\uffe0-\\uffe6\\u{16fe0}-\\u{18dff}\\u{1aff0}-\\u{1b2ff}\\u{1f200}-\\u{1f265}\\u{20000}-\\u{3fffd}';

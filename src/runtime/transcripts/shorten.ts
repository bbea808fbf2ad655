import { isHalf } from '../../core/excerpt.ts';

/** A text that an entry has only in part: what is left out is between two places of it, in characters. */
export interface Cut {
  readonly path: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly chars: number;
}

/** An entry with a JSON longer than this has its longest texts shortened. */
export const ENTRY_CHARS = 64 * 1024;

/** How much of a text's beginning and of its end stays. */
const KEPT_CHARS = 8 * 1024;

/**
 * An entry that fits into one answer. Long texts keep their beginning and their end, and `cut` lists them. A field with
 * too many short texts becomes one text, its JSON.
 */
export function shorten<E extends object>(entry: E): { entry: E; cut: Cut[] } {
  const cut: Cut[] = [];
  const short = Object.entries(entry).map(([name, value]) => {
    const found: Cut[] = [];
    const shorter = shortenValue(value, [name], found);
    if (lengthOf(shorter) <= ENTRY_CHARS) {
      cut.push(...found);
      return [name, shorter];
    }
    return [name, shortenText(textOf(value), [name], cut)];
  });
  return { entry: Object.fromEntries(short) as E, cut };
}

/** The text at a path of an entry; undefined if there is none. A value that is no text is shown as JSON. */
export function textAt(entry: unknown, path: readonly string[]): string | undefined {
  let value = entry;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value === undefined ? undefined : textOf(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0);
}

function shortenValue(value: unknown, path: readonly string[], cut: Cut[]): unknown {
  if (typeof value === 'string') return shortenText(value, path, cut);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one, i) => shortenValue(one, [...path, String(i)], cut));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, shortenValue(one, [...path, name], cut)]),
  );
}

function shortenText(text: string, path: readonly string[], cut: Cut[]): string {
  const chars = text.length;
  if (chars <= 2 * KEPT_CHARS) return text;
  // Don't cut between the halves of a surrogate pair.
  const from = isHalf(text, KEPT_CHARS) ? KEPT_CHARS - 1 : KEPT_CHARS;
  const to = isHalf(text, chars - KEPT_CHARS) ? chars - KEPT_CHARS - 1 : chars - KEPT_CHARS;
  cut.push({ path, from, to, chars });
  return `${text.slice(0, from)}${gapOf(to - from)}${text.slice(to)}`;
}

/** What stands where characters were left out. */
function gapOf(chars: number): string {
  return `\n[${chars} characters left out]\n`;
}

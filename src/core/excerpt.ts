/** A text that was found, and what stands around it. */
export interface Excerpt {
  readonly before: string;
  readonly match: string;
  readonly after: string;
}

const AROUND_CHARS = 80;

/** Finds a text as it is written, whatever its case. */
export function matcherOf(text: string): RegExp {
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
}

/** The first place of a text that matches, with what stands around it. */
export function excerptOf(text: string, wanted: RegExp): Excerpt | undefined {
  const found = wanted.exec(text);
  if (!found) return undefined;
  const end = found.index + found[0].length;
  const from = Math.max(0, found.index - AROUND_CHARS);
  const to = Math.min(text.length, end + AROUND_CHARS);
  return {
    before: text.slice(isHalf(text, from) ? from + 1 : from, found.index),
    match: found[0],
    after: text.slice(end, isHalf(text, to) ? to - 1 : to),
  };
}

/** Whether a place is within a surrogate pair. */
export function isHalf(text: string, place: number): boolean {
  return /[\uDC00-\uDFFF]/.test(text.charAt(place)) && /[\uD800-\uDBFF]/.test(text.charAt(place - 1));
}

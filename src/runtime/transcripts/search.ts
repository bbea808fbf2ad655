import { open } from 'node:fs/promises';
import { linesBetween } from './lines.ts';
import { momentOf, parseEntry } from './page.ts';
import type { Entry } from './page.ts';
import { isHalf } from './shorten.ts';

/** Where a text was found, with what stands around it. */
export interface Hit {
  /** The place of its entry. */
  readonly place: number;
  readonly at: number;
  readonly type: string;
  readonly before: string;
  readonly match: string;
  readonly after: string;
}

/** The hits of a part of a file, and where the next part begins; undefined after the last one. */
export interface Found {
  readonly hits: Hit[];
  readonly next: number | undefined;
}

const AROUND_CHARS = 80;

/**
 * Finds a text in the entries of a file, whatever its case, from a place on. It stops at `most` hits, at an entry that is
 * younger than `until`, and when `isEnough` says so after some work; then the caller asks for the next part.
 */
export async function searchFile(
  path: string,
  text: string,
  options: {
    readonly after: number;
    readonly until?: number | undefined;
    readonly most: number;
    readonly isEnough: () => boolean;
  },
): Promise<Found> {
  const { after, until = Infinity, most, isEnough } = options;
  const file = await open(path).catch(() => undefined);
  if (!file) return { hits: [], next: undefined };
  try {
    const { size } = await file.stat();
    // Lines are JSON. What we look for is written there as JSON, too, so most lines need no parsing.
    const inLine = matcher(JSON.stringify(text).slice(1, -1));
    const inText = matcher(text);
    const hits: Hit[] = [];
    for await (const { place, bytes, isCut } of linesBetween(file, after, size)) {
      if (hits.length >= most || (isEnough() && place > after)) return { hits, next: place };
      if (momentOf(bytes) > until) return { hits, next: undefined };
      if (isCut || !inLine.test(bytes.toString('utf8'))) continue;
      const entry = parseEntry(bytes);
      const hit = entry && findIn(entry, inText);
      if (hit) hits.push({ place, at: entry.at, type: entry.type, ...hit });
    }
    return { hits, next: undefined };
  } finally {
    await file.close();
  }
}

function matcher(text: string): RegExp {
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu');
}

/** Fields that people do not see as text. */
const HIDDEN = new Set(['at', 'type', 'id', 'status', 'messageIds', 'sessionId']);

function findIn(entry: Entry, wanted: RegExp): Pick<Hit, 'before' | 'match' | 'after'> | undefined {
  for (const text of textsOf(Object.entries(entry).flatMap(([name, value]) => (HIDDEN.has(name) ? [] : [value])))) {
    const found = wanted.exec(text);
    if (!found) continue;
    const end = found.index + found[0].length;
    const from = Math.max(0, found.index - AROUND_CHARS);
    const to = Math.min(text.length, end + AROUND_CHARS);
    return {
      before: text.slice(isHalf(text, from) ? from + 1 : from, found.index),
      match: found[0],
      after: text.slice(end, isHalf(text, to) ? to - 1 : to),
    };
  }
  return undefined;
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) yield* textsOf(one);
}

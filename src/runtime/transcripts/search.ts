import { open } from 'node:fs/promises';
import { excerptOf, matcherOf } from '../../core/excerpt.ts';
import type { Excerpt } from '../../core/excerpt.ts';
import { linesBetween } from './lines.ts';
import { momentOf, parseEntry } from './page.ts';
import type { Entry } from './page.ts';

/** Where a text was found, with what stands around it. */
export interface Hit extends Excerpt {
  /** The place of its entry. */
  readonly place: number;
  readonly at: number;
  readonly type: string;
}

/** The hits of a part of a file, and where the next part begins; undefined after the last one. */
export interface Found {
  readonly hits: Hit[];
  readonly next: number | undefined;
}

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
    const inLine = matcherOf(JSON.stringify(text).slice(1, -1));
    const inText = matcherOf(text);
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

/** Fields that people do not see as text. */
const HIDDEN = new Set(['at', 'type', 'id', 'status', 'messageIds', 'sessionId']);

function findIn(entry: Entry, wanted: RegExp): Excerpt | undefined {
  for (const text of textsOf(Object.entries(entry).flatMap(([name, value]) => (HIDDEN.has(name) ? [] : [value])))) {
    const found = excerptOf(text, wanted);
    if (found) return found;
  }
  return undefined;
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) yield* textsOf(one);
}

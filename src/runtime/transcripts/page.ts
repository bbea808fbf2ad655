import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { lineBefore, lineFrom, linesBetween, readAt } from './lines.ts';
import type { Line } from './lines.ts';
import { ENTRY_CHARS, shorten } from './shorten.ts';

/** An entry of a transcript, and the place where its line begins. */
export const Entry = z.looseObject({ at: z.number(), type: z.string() });
export type Entry = z.output<typeof Entry>;

/** Which part of a file is wanted. Without any of these, its beginning. */
export interface Wanted {
  /** From this place on. */
  readonly after?: number | undefined;
  /** Up to this place. */
  readonly before?: number | undefined;
  /** From the first entry on that is not older, in milliseconds since 1970. */
  readonly since?: number | undefined;
  /** The last page, if there is more than one after `after`. */
  readonly tail?: boolean | undefined;
}

/** Entries between two places of a file of `size` bytes. */
export interface EntryPage {
  readonly from: number;
  readonly after: number;
  readonly size: number;
  readonly entries: Entry[];
}

/** Every entry begins with its time. */
const MOMENT_BYTES = 64;

/** The size of one page; a reader asks again for more. One longer line is a page of its own, shortened. */
const PAGE_BYTES = 256 * 1024;

/** One page of a transcript: whole lines only, since the last one may be incomplete. */
export async function readPage(path: string, wanted: Wanted): Promise<EntryPage | undefined> {
  const file = await open(path).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const { from, to } = await findPart(file, size, wanted);
    const entries: Entry[] = [];
    let after = from;
    for await (const line of linesBetween(file, from, to)) {
      // A first line that is longer than a page is a page of its own.
      if (after > from && wanted.before === undefined && line.end - from > PAGE_BYTES) break;
      after = line.end;
      entries.push(...readEntry(line));
    }
    return { from, after: wanted.before === undefined ? after : to, size, entries };
  } finally {
    await file.close();
  }
}

/** Where a page may begin and must end. */
async function findPart(
  file: FileHandle,
  size: number,
  { after = 0, before, since, tail = false }: Wanted,
): Promise<{ from: number; to: number }> {
  if (before !== undefined) {
    const to = Math.min(before, size);
    const from = to <= PAGE_BYTES ? 0 : await lineFrom(file, to - PAGE_BYTES, to);
    return { from: from < to ? from : await lineBefore(file, to), to };
  }
  if (since !== undefined) return { from: await findMoment(file, size, since), to: size };
  // Transcripts are never truncated: a position beyond the end belongs to an earlier session.
  const start = after > size ? 0 : after;
  if (!tail || size - start <= PAGE_BYTES) return { from: start, to: size };
  const from = await lineFrom(file, size - PAGE_BYTES, size);
  // The last line alone may be longer than a page.
  return { from: from < size ? from : Math.max(start, await lineBefore(file, size)), to: size };
}

/** The place of the first entry that is not older than a moment. Entries are in the order of their time. */
async function findMoment(file: FileHandle, size: number, since: number): Promise<number> {
  let low = 0;
  let high = size;
  while (high - low > PAGE_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const place = await lineFrom(file, middle, high);
    if (place >= high) break;
    if ((await momentAt(file, place)) < since) low = place;
    else high = middle;
  }
  for await (const { place, bytes } of linesBetween(file, low, size)) {
    if (momentOf(bytes) >= since) return place;
  }
  return size;
}

async function momentAt(file: FileHandle, place: number): Promise<number> {
  return momentOf(await readAt(file, place, MOMENT_BYTES));
}

/** When the entry of a line was written. */
export function momentOf(bytes: Buffer): number {
  const [, at = '0'] = /^\s*\{\s*"at"\s*:\s*(\d+)/.exec(bytes.toString('latin1', 0, MOMENT_BYTES)) ?? [];
  return Number(at);
}

/** The entry of a line, shortened if it is long; none for a line that is no entry. */
export function readEntry({ place, end, bytes, isCut }: Line): Entry[] {
  if (isCut) return [{ at: momentOf(bytes), type: 'oversized', place, bytes: end - place }];
  const whole = parseEntry(bytes);
  if (!whole) return [];
  if (bytes.length <= ENTRY_CHARS) return [{ ...whole, place }];
  const { entry, cut } = shorten(whole);
  return [{ ...entry, place, ...(cut.length > 0 && { cut }) }];
}

/** The entry of a line, as it was written. */
export function parseEntry(bytes: Buffer): Entry | undefined {
  try {
    return Entry.safeParse(JSON.parse(bytes.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

import { open } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { TeamError } from '../core/errors.ts';
import { isHalf } from '../core/excerpt.ts';
import { quote } from '../core/text.ts';
import { linesBetween } from '../runtime/transcripts/lines.ts';
import { parseEntry, readPage } from '../runtime/transcripts/page.ts';
import { searchFile } from '../runtime/transcripts/search.ts';
import { listSessions, sessionPath } from '../runtime/transcripts/sessions.ts';
import { textAt } from '../runtime/transcripts/shorten.ts';
import type {
  TextPart,
  TranscriptHits,
  TranscriptPage,
  TranscriptPart,
  TranscriptSearch,
  TranscriptText,
} from './transcript-schemas.ts';

type InFolder<T> = Omit<T, 'teamId' | 'memberId'>;

/** Another process writes the transcript, so we can only poll the file. */
const LOOK_MS = 100;

/** Reads a page of one of the transcripts in a folder, and waits for one if it is asked to. */
export async function readTranscript(
  folder: string,
  { session, after, before, since, tail, wait = 0 }: InFolder<TranscriptPart>,
  signal: AbortSignal,
): Promise<TranscriptPage> {
  const end = performance.now() + wait;
  let first: string | undefined;
  for (;;) {
    const kept = await listSessions(folder);
    const all = kept.map(({ name }) => name);
    const name = session ?? (since === undefined ? undefined : kept.find(({ at }) => at >= since)?.name) ?? all.at(-1);
    first ??= name;
    // A session that starts while we wait is read from its beginning: `after` is a position in the previous one.
    const from = name === first ? after : 0;
    const page =
      name === undefined ? undefined : await readPage(sessionPath(folder, name), { after: from, before, since, tail });
    const done = performance.now() >= end || signal.aborted;
    if ((page && page.entries.length > 0) || done) {
      if (session !== undefined && !all.includes(session)) throw unknownSession(session, all);
      const place = name === undefined ? all.length : all.indexOf(name);
      const [earlier, later] = [all.slice(0, place), all.slice(place + 1)];
      return {
        session: name ?? null,
        after,
        entries: [],
        ...page,
        ...(earlier.length > 0 && { earlier }),
        ...(later.length > 0 && { later }),
      };
    }
    await pause(LOOK_MS);
  }
}

/** How many sessions to name if the given one does not exist. */
const FEW = 5;

function unknownSession(session: string, all: readonly string[]): TeamError {
  const last = all.slice(-FEW).join(', ');
  const there = all.length > FEW ? `the last of ${all.length} are ${last}` : `there is ${last || 'none'}`;
  return new TeamError('not_found', `There is no transcript of a session ${quote(session)}; ${there}`);
}

/** How long one search works; the caller asks for the next part. */
const SEARCH_MS = 300;

/** How many hits one search returns at most. */
const HITS = 50;

/** Searches the transcripts in a folder, from a place on, as far as it comes in a short time. */
export async function searchTranscripts(
  folder: string,
  { text, session, after, since, until }: InFolder<TranscriptSearch>,
): Promise<TranscriptHits> {
  const end = performance.now() + SEARCH_MS;
  const isEnough = (): boolean => performance.now() >= end;
  const all = (await listSessions(folder)).filter(({ at }) => since === undefined || at >= since);
  const begin = session === undefined ? 0 : all.findIndex(({ name }) => name === session);
  const hits: TranscriptHits['hits'] = [];
  for (const { name } of all.slice(Math.max(0, begin))) {
    if (isEnough()) return { hits, next: { session: name, after: 0 } };
    const path = sessionPath(folder, name);
    // Where a search goes on, what is older was left out already.
    const given = name === session ? after : 0;
    const from = given === 0 && since !== undefined ? ((await readPage(path, { since }))?.from ?? 0) : given;
    const found = await searchFile(path, text, { after: from, until, most: HITS - hits.length, isEnough });
    hits.push(...found.hits.map((hit) => ({ session: name, ...hit })));
    if (found.next !== undefined) return { hits, next: { session: name, after: found.next } };
  }
  return { hits };
}

/** How much of a long text one answer has. */
const TEXT_CHARS = 256 * 1024;

/** Reads a part of a text of an entry. */
export async function readText(
  folder: string,
  { session, place, path, from }: InFolder<TranscriptText>,
): Promise<TextPart> {
  const text = await findText(sessionPath(folder, session), place, path.split('.'));
  if (text === undefined) throw new TeamError('not_found', `There is no text ${path} at ${place} of ${quote(session)}`);
  const end = Math.min(text.length, from + TEXT_CHARS);
  return { text: text.slice(from, isHalf(text, end) ? end - 1 : end), from, chars: text.length };
}

async function findText(file: string, place: number, path: readonly string[]): Promise<string | undefined> {
  const handle = await open(file).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { size } = await handle.stat();
    for await (const { bytes, isCut } of linesBetween(handle, place, size)) {
      const entry = isCut ? undefined : parseEntry(bytes);
      return entry && textAt(entry, path);
    }
    return undefined;
  } finally {
    await handle.close();
  }
}

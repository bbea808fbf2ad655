import { mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readText, readTranscript, searchTranscripts } from '../../src/operations/transcript-reader.ts';
import type { TranscriptHits, TranscriptPage } from '../../src/operations/transcript-schemas.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-transcript-'));
afterAll(() => rm(folder, { recursive: true }));

const BIG = 2 * 1024 * 1024;
const LINES = 1_500;
const MIDDLE = LINES / 2;
const HUGE = `begin ${'é🙂x'.repeat(BIG / 4)} the failing line`;
const signal = new AbortController().signal;

interface Written {
  readonly at: number;
  readonly type: string;
  readonly [name: string]: unknown;
}

/** 8 MB, with one turn of 2 million characters in its middle and one at its end: several pages, and several parts of a text. */
const entries: Written[] = [
  { at: 1, type: 'session', sessionId: 's2', agent: 'claude' },
  ...Array.from({ length: LINES }, (_, i) =>
    i === MIDDLE
      ? { at: i + 2, type: 'turn', text: HUGE, messageIds: [] }
      : { at: i + 2, type: 'text', text: `line ${i} ${'"quoted"\n'.repeat(i % 100)}` },
  ),
  { at: LINES + 2, type: 'tool', id: '1', name: 'Write', status: 'done', input: { path: 'a', content: HUGE } },
];
write('s1', [{ at: 0, type: 'text', text: 'An older Needle' }], 0.05);
write('s2', entries, 2_000);

/** `at`: when it was last written, in seconds. */
function write(session: string, lines: readonly Written[], at: number): void {
  const path = join(folder, `${session}.jsonl`);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  utimesSync(path, at, at);
}

const read = (part: Partial<Parameters<typeof readTranscript>[1]>): Promise<TranscriptPage> =>
  readTranscript(folder, { after: 0, tail: false, ...part }, signal);

/** The same entries, as far as pages have them whole. */
function plain(found: TranscriptPage['entries']): unknown[] {
  return found.map(({ at, type }) => [at, type]);
}

test('is read whole from its beginning, page by page', async () => {
  const found: TranscriptPage['entries'] = [];
  let after = 0;
  for (;;) {
    const page = await read({ session: 's2', after });
    expect(page.from).toBe(after);
    expect(JSON.stringify(page.entries).length).toBeLessThan(512 * 1024);
    found.push(...page.entries);
    after = page.after;
    if (after === page.size) break;
  }
  expect(plain(found)).toEqual(entries.map(({ at, type }) => [at, type]));
  expect(found[5]).toMatchObject({ text: entries[5]?.['text'] });
});

test('is read whole from its end, page by page, and on into the session before', async () => {
  const last = await read({ tail: true });
  expect(last).toMatchObject({ session: 's2', after: last.size, earlier: ['s1'] });
  expect(last.later).toBeUndefined();
  const found = [...last.entries];
  let before = last.from as number;
  while (before > 0) {
    const page = await read({ session: 's2', before });
    expect(page.after).toBe(before);
    found.unshift(...page.entries);
    before = page.from as number;
  }
  expect(plain(found)).toEqual(entries.map(({ at, type }) => [at, type]));
  expect(await read({ session: 's1', tail: true })).toMatchObject({ later: ['s2'], entries: [{ at: 0 }] });
});

test('a turn of 2 MB has its beginning and its end, and the rest of it part by part', async () => {
  const { entries: found } = await read({ session: 's2', since: MIDDLE + 2 });
  const [turn] = found as unknown as [{ place: number; text: string; cut: { path: string[]; chars: number }[] }];
  expect(turn.text).toMatch(/^begin é🙂x/u);
  expect(turn.text).toMatch(/characters left out\]\n[^]*the failing line$/);
  expect(turn.cut).toMatchObject([{ path: ['text'], chars: HUGE.length }]);
  let whole = '';
  while (whole.length < HUGE.length) {
    const { place } = turn;
    const part = await readText(folder, { session: 's2', place, path: 'text', from: whole.length });
    expect(part.chars).toBe(HUGE.length);
    whole += part.text;
  }
  expect(whole).toBe(HUGE);
});

test('long texts within an input are shortened where they are', async () => {
  const { entries: found } = await read({ tail: true, session: 's2' });
  const tool = found.at(-1) as unknown as { place: number; input: { path: string; content: string } };
  expect(tool).toMatchObject({ name: 'Write', input: { path: 'a' }, cut: [{ path: ['input', 'content'] }] });
  expect(tool.input.content).toMatch(/the failing line$/);
  const part = await readText(folder, { session: 's2', place: tool.place, path: 'input.content', from: 10 });
  expect(part.text.slice(0, 20)).toBe(HUGE.slice(10, 30));
  await expect(readText(folder, { session: 's2', place: tool.place, path: 'input.none', from: 0 })).rejects.toThrow(
    'There is no text input.none',
  );
});

test('is read from a moment on, in the session of that moment', async () => {
  const { session, entries: found } = await read({ since: 1_210 });
  expect([session, found[0]?.at]).toEqual(['s2', 1_210]);
  expect((await read({ session: 's2', since: LINES * 2 })).entries).toEqual([]);
});

test('is searched whole, in parts, whatever the case', async () => {
  const search = async (
    text: string,
    range: { since?: number; until?: number } = {},
  ): Promise<TranscriptHits['hits']> => {
    const hits: TranscriptHits['hits'] = [];
    let next: TranscriptHits['next'] = { session: 's1', after: 0 };
    while (next) {
      const found: TranscriptHits = await searchTranscripts(folder, { text, ...range, ...next });
      hits.push(...found.hits);
      ({ next } = found);
    }
    return hits;
  };
  const [older, ...none] = await search('older needle');
  expect(none).toEqual([]);
  expect(older).toMatchObject({ session: 's1', place: 0, before: 'An ', match: 'older Needle', after: '' });
  const failing = await search('FAILING line');
  expect(failing.map(({ at, type }) => [at, type])).toEqual([
    [MIDDLE + 2, 'turn'],
    [LINES + 2, 'tool'],
  ]);
  const { entries: there } = await read({ session: 's2', after: failing[1]?.place ?? 0 });
  expect(there[0]?.at).toBe(LINES + 2);
  expect(await search('quoted"\n"quoted', { since: 100, until: 199 })).toHaveLength(98);
  expect(await search('"at"')).toEqual([]);
});

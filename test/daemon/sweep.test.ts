import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TeamEvent } from '../../src/core/event.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { openProcessRecords } from '../../src/runtime/process-records.ts';
import { startFixture } from '../journal/children.ts';
import { observed } from '../ledger/observed.ts';
import { isProof, tell } from '../proof.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';

/** The system calls that change files. The kernel counts each kind for itself. */
const CALLS = ['pwrite64', 'write', 'fdatasync', 'fsync', 'rename', 'unlink', 'ftruncate', 'mkdir'] as const;
type Call = (typeof CALLS)[number];

/** How many kills happen at the same time, each to a folder of its own. */
const LANES = 3;
/**
 * A new journal first writes its whole log with zeros, in thousands of equal calls, before anything is acknowledged.
 * Of these a proof strikes every n-th; of all others every single one.
 */
const EVERY_ZERO = 40;

test('a kill at any system call tears nothing and loses nothing that was acknowledged', async (context) => {
  needTool(context, 'strace');
  const cache = temporaryFolder();
  const whole = await runVictim({ cache });
  expect(whole.code).toBe(0);
  const expected = await read(whole.folder);
  const counts = await countCalls(cache);
  const points = CALLS.flatMap((call) => pointsOf(call, counts));
  let struck = 0;
  const strike = async (): Promise<void> => {
    for (let point = points.shift(); point; point = points.shift()) {
      const { folder, lines, signal, code } = await runVictim({ cache, point });
      const what = `${point.call} ${point.at}`;
      // The order of threads may differ: a call that comes later than in the count is struck in the next run.
      expect(signal === 'SIGKILL' || code === 0, what).toBe(true);
      struck += signal === 'SIGKILL' ? 1 : 0;
      await check(folder, lines, { expected, what });
      rmSync(folder, { recursive: true });
    }
  };
  const all = points.length;
  await Promise.all(Array.from({ length: LANES }, strike));
  // Nearly all kills must have happened: otherwise the sweep shows nothing.
  expect(struck).toBeGreaterThan(0.9 * all);
  tell({ points: struck });
});

interface Point {
  readonly call: Call;
  readonly at: number;
}

function pointsOf(call: Call, counts: ReadonlyMap<Call, { total: number; zeros: number }>): Point[] {
  const { total, zeros } = counts.get(call) ?? { total: 0, zeros: 0 };
  const all = Array.from({ length: total }, (_, i) => i + 1);
  const chosen = all.filter((at) => at > zeros || at % EVERY_ZERO === 0);
  // `npm test` strikes one of each kind, in the middle: Node itself writes now and then, so the last ones may not come.
  return (isProof ? chosen : chosen.slice(chosen.length / 2, chosen.length / 2 + 1)).map((at) => ({ call, at }));
}

async function runVictim({ cache, point, trace }: { cache: string; point?: Point; trace?: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-sweep-'));
  const strace = ['strace', '-f', '-qq', '-o', trace ?? '/dev/null'];
  const set = `trace=${point?.call ?? CALLS.join(',')}`;
  const inject = point ? ['-e', `inject=${point.call}:signal=SIGKILL:when=${point.at}`] : [];
  const prefix = point || trace !== undefined ? [...strace, '-e', set, ...inject] : [];
  const victim = startFixture('sweep-victim', [folder], { cache, prefix });
  const { code, signal, errors } = await victim.ended;
  expect(errors).toBe('');
  return { folder, lines: victim.lines, code, signal };
}

/** How often the main thread makes each call, and how many of the first ones fill the log. */
async function countCalls(cache: string): Promise<Map<Call, { total: number; zeros: number }>> {
  const trace = join(temporaryFolder(), 'trace');
  const { code, folder } = await runVictim({ cache, trace });
  expect(code).toBe(0);
  rmSync(folder, { recursive: true });
  const lines = readFileSync(trace, 'utf8').split('\n');
  const main = lines[0]?.split(' ')[0] ?? '';
  const counts = new Map<Call, { total: number; zeros: number }>();
  let isOpen = false;
  for (const line of lines.filter((line) => line.startsWith(`${main} `))) {
    const call = CALLS.find((name) => line.includes(` ${name}(`));
    if (!call) continue;
    if (line.includes('"open 1')) isOpen = true;
    const { total, zeros } = counts.get(call) ?? { total: 0, zeros: 0 };
    counts.set(call, { total: total + 1, zeros: zeros + (call === 'pwrite64' && !isOpen ? 1 : 0) });
  }
  return counts;
}

interface Found {
  readonly batches: readonly string[];
  readonly teams: readonly string[];
  readonly version: number;
  readonly records: readonly string[];
}

/** What the next daemon finds. */
async function read(folder: string): Promise<Found> {
  const journal = sqliteJournal(join(folder, 'journal.db'), { exclusive: true });
  expect(journal.damage).toBeUndefined();
  const batches: string[] = [];
  for await (const { seq, events } of journal.read('crew', 0)) {
    expect(seq).toBe(batches.length + 1);
    batches.push(events.map(shapeOf).join(' '));
  }
  const ledger = new Ledger(journal, { exclusive: true });
  const teams = await ledger.teams();
  // With its snapshot or without: the same state.
  if (batches.length > 0) await observed(ledger);
  await ledger.close();
  await journal.close();
  const file = join(folder, 'approvals.json');
  const version = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version: number }).version : 0;
  const unreadable: string[] = [];
  const records = openProcessRecords(join(folder, 'processes'), (path) => unreadable.push(path)).list();
  expect(unreadable).toEqual([]);
  return { batches, teams, version, records: records.map(({ id }) => id).toSorted() };
}

/** An event without what differs in each run. */
function shapeOf(event: TeamEvent): string {
  return `${event.type}:${JSON.stringify(event).length > 5_000 ? 'large' : 'small'}`;
}

async function check(
  folder: string,
  lines: readonly string[],
  { expected, what }: { expected: Found; what: string },
): Promise<void> {
  const told = (word: string): number => lines.filter((line) => line.startsWith(`${word} `)).length;
  const found = await read(folder);
  expect(found.batches, what).toEqual(expected.batches.slice(0, found.batches.length));
  expect(found.batches.length, what).toBeGreaterThanOrEqual(told('batch'));
  expect(found.batches.length, what).toBeLessThanOrEqual(told('batch') + 1);
  if (told('made') > told('dropped') && found.teams.length === 1) expect(lines.at(-1), what).toBe('made 1');
  if (told('dropped') === 1) expect(found.teams, what).toEqual(['crew']);
  expect(found.version - told('file'), what).toBeGreaterThanOrEqual(0);
  expect(found.version - told('file'), what).toBeLessThanOrEqual(1);
  // The first one is removed when all are written.
  const written = ['m1', 'm2', 'm3'].slice(told('record') === 3 ? 1 : 0, told('record'));
  expect(found.records, what).toEqual(expect.arrayContaining(written));
  if (told('removed') === 1) expect(found.records, what).toEqual(written);
}

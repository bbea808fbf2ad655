import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Stored } from '../../src/journal/journal.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startFixture } from './children.ts';

const ROUNDS = 200;
/** Files side by side, each with one victim at a time: starting a process takes longer than the rest. */
const LANES = 4;
const TEAMS = ['team-0', 'team-1', 'team-2', 'team-3'];
const LONGEST_LIFE_MS = 40;

test(`${ROUNDS} times kill -9 loses nothing that was acknowledged and leaves no half batch`, async () => {
  const seed = Number(process.env['TROUPE_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const folder = temporaryFolder();
  const cache = join(folder, 'cache');
  // One that has no team to write to ends by itself and leaves its compiled code for the others.
  expect((await startFixture('journal-victim', [join(folder, 'none.db')], { cache }).ended).code).toBe(0);
  try {
    const lanes = Array.from({ length: LANES }, (_, lane) =>
      runLane(join(folder, `${lane}.db`), cache, random(seed + lane)),
    );
    const figures = (await Promise.all(lanes)).flat();
    expect(figures).toHaveLength(ROUNDS);
    const sum = (pick: (figure: Figure) => number) => figures.reduce((total, figure) => total + pick(figure), 0);
    console.log(
      `${sum(({ acknowledged }) => acknowledged)} acknowledged and there, ` +
        `${sum(({ unheard }) => unheard)} more durable when their process died, ` +
        `${figures.filter(({ recovered }) => recovered).length} logs recovered`,
    );
    // The kills met a process at work: most left a log behind that the next had to recover.
    expect(figures.filter(({ recovered }) => recovered).length).toBeGreaterThan(ROUNDS * 0.9);
  } catch (error) {
    throw new Error(`With TROUPE_SEED=${seed}: ${String(error)}`, { cause: error });
  }
});

interface Figure {
  readonly acknowledged: number;
  /** Durable, but killed before it could say so. */
  readonly unheard: number;
  readonly recovered: boolean;
}

/** One file that is written by one victim after the other, each killed at a random moment. */
async function runLane(path: string, cache: string, next: () => number): Promise<Figure[]> {
  const figures: Figure[] = [];
  let ends = TEAMS.map(() => 0);
  for (let round = 1; round <= ROUNDS / LANES; round++) {
    const victim = startFixture('journal-victim', [path, ...ends.map(String)], { cache });
    await victim.until(1);
    await sleep(next() * LONGEST_LIFE_MS);
    victim.kill('SIGKILL');
    // It never ends by itself, so it was at work.
    expect(await victim.ended).toEqual({ code: null, signal: 'SIGKILL', errors: '' });
    const recovered = existsSync(`${path}-wal`);

    const before = ends;
    ends = await findEnds(path, before);
    const acknowledged = victim.lines.map((line) => line.split(' ') as [string, string]);
    for (const [team, seq] of acknowledged) {
      if (Number(seq) > (ends[TEAMS.indexOf(team)] ?? 0)) throw new Error(`Batch ${seq} of ${team} is lost`);
    }
    const added = sum(ends) - sum(before);
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(added).toBeGreaterThanOrEqual(acknowledged.length);
    figures.push({ acknowledged: acknowledged.length, unheard: added - acknowledged.length, recovered });
  }
  // What the first victims wrote has been through every crash since.
  expect(
    await findEnds(
      path,
      TEAMS.map(() => 0),
    ),
  ).toEqual(ends);
  return figures;
}

/** Opens the file as it was left and checks every batch after `from`; returns the number of each team's last one. */
async function findEnds(path: string, from: readonly number[]): Promise<number[]> {
  const journal = sqliteJournal(path);
  const ends = [...from];
  for (const [i, team] of TEAMS.entries()) {
    for await (const batch of journal.read(team, from[i] ?? 0)) {
      ends[i] = (ends[i] ?? 0) + 1;
      checkBatch(team, ends[i] ?? 0, batch);
    }
  }
  await journal.close();
  return ends;
}

function checkBatch(team: string, seq: number, { seq: found, events }: Stored): void {
  const parts = events as unknown as { team: string; seq: number; i: number; of: number }[];
  const whole = parts.length === parts[0]?.of && parts.every((part, i) => part.i === i && part.of === parts.length);
  if (found === seq && whole && parts.every((part) => part.team === team && part.seq === seq)) return;
  throw new Error(`Batch ${seq} of ${team} is not whole: ${JSON.stringify(events)}`);
}

function sum(ends: readonly number[]): number {
  return ends.reduce((total, end) => total + end, 0);
}

/** Numbers from 0 to 1 that a seed repeats (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Stored } from '../../src/journal/journal.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { rounds, tell } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startFixture } from './children.ts';

const ROUNDS = rounds(16, 4_000);
/** How many files are tested in parallel, each with one victim at a time: starting a process takes most of the time. */
const LANES = 4;
const TEAMS = ['team-0', 'team-1', 'team-2', 'team-3'];
const LONGEST_LIFE_MS = 40;

test(`${ROUNDS} times kill -9 loses no acknowledged batch and leaves no partial batch`, async () => {
  const next = seededRandom();
  const folder = temporaryFolder();
  // A victim without teams exits by itself and fills the compile cache for the others.
  expect((await startFixture('journal-victim', [join(folder, 'none.db')]).ended).code).toBe(0);
  const lanes = Array.from({ length: LANES }, (_, lane) => {
    // Drawn before the lanes start, so that a seed gives the same lives whichever lane is faster.
    const lives = Array.from({ length: ROUNDS / LANES }, () => next() * LONGEST_LIFE_MS);
    return runLane(join(folder, `${lane}.db`), lives);
  });
  const figures = (await Promise.all(lanes)).flat();
  expect(figures).toHaveLength(ROUNDS);
  const total = (pick: (figure: Figure) => number) => sum(figures.map(pick));
  tell({
    kills: ROUNDS,
    acknowledged: total(({ acknowledged }) => acknowledged),
    unheard: total(({ unheard }) => unheard),
  });
});

interface Figure {
  readonly acknowledged: number;
  /** Batches that are durable, but the victim was killed before it printed them. */
  readonly unheard: number;
}

/** Lets victims write to one file in sequence, and kills each at a random moment. */
async function runLane(path: string, lives: readonly number[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  let ends = TEAMS.map(() => 0);
  for (const life of lives) {
    const victim = startFixture('journal-victim', [path, ...ends.map(String)]);
    await victim.until(1);
    await sleep(life);
    victim.kill('SIGKILL');
    // A victim with teams never exits by itself, so it was writing.
    expect(await victim.ended).toEqual({ code: null, signal: 'SIGKILL', errors: '' });
    // Closing the file would have removed its log. The log exists, so the next process must recover it.
    expect(existsSync(`${path}-wal`)).toBe(true);

    const before = ends;
    ends = await findEnds(path, before);
    const acknowledged = victim.lines.map((line) => line.split(' ') as [string, string]);
    for (const [team, seq] of acknowledged) {
      if (Number(seq) > (ends[TEAMS.indexOf(team)] ?? 0)) throw new Error(`Batch ${seq} of ${team} is lost`);
    }
    const added = sum(ends) - sum(before);
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(added).toBeGreaterThanOrEqual(acknowledged.length);
    figures.push({ acknowledged: acknowledged.length, unheard: added - acknowledged.length });
  }
  // The batches of the first victims have survived every crash since.
  expect(
    await findEnds(
      path,
      TEAMS.map(() => 0),
    ),
  ).toEqual(ends);
  return figures;
}

/** Opens the file that a victim left and checks every batch after `from`; returns each team's last number. */
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

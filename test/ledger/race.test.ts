import { join as joinPath } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TeamEvent } from '../../src/core/event.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { startFixture } from '../journal/children.ts';
import { rounds, tell } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { claim, complete, createTask, createTeam, leave, run, task, TEAM } from './commands.ts';
import { openLedger, sqlitePlace } from './places.ts';

const TASKS = rounds(100, 1_000);
/** The races are repeated; more tasks in one team would only make each claim slower. */
const RACES = Array.from({ length: rounds(1, 50) }, (_, i) => i + 1);

/** How many processes race. To start one takes longer than to do all tasks. */
const RACERS = rounds(4, 8);
/** So many of them take what is next; the others claim by id. */
const TAKING = (RACERS * 3) / 4;

describe(`${RACERS} processes that race for ${TASKS} tasks on one file`, () => {
  test.each(RACES)('complete each task once, in the order of dependencies (%i)', async () => {
    const { path, journal } = await prepareRace();
    const random = seededRandom();
    const racers = WORKERS.map((member, i) => startRacer(path, member, i < TAKING ? 'next' : `by-id ${draw(random)}`));
    for (const { ended } of racers) expect(await ended).toEqual(WELL);

    const history = await readHistory(journal);
    expect(history.completions).toHaveLength(TASKS);
    expect(history.claims).toHaveLength(TASKS);
    tell({ claims: history.claims.length });
    // What each racer reported matches the journal: no racer got the answer for another's task.
    for (const racer of racers) {
      const recorded = history.completions.filter(({ member }) => member === racer.member);
      expect(recorded.map(({ id }) => id)).toEqual(idsSaid(racer, 'done'));
    }
  });

  test.each(RACES)(
    'complete each task once although two are killed and others take over their tasks (%i)',
    async () => {
      const random = seededRandom();
      // Some tasks are reserved for the holder, so that it gets one however fast the others are.
      const { path, journal, ledger } = await prepareRace({ reservedFor: WORKERS[0] });
      // No racer ends before this task is done, so the victim is killed while it works or waits for work.
      const last = await createTask(ledger, 'the last one', { assigneeId: REFEREE });
      const racers = WORKERS.map((member, i) =>
        startRacer(path, member, i === 0 ? 'hold' : i < TAKING ? 'next' : `by-id ${draw(random)}`),
      );
      const [holder, victim, ...others] = racers as [Racer, Racer, ...Racer[]];
      await expect.poll(() => idsSaid(holder, 'holds')).toHaveLength(1);
      holder.kill('SIGKILL');
      expect(await holder.ended).toEqual(KILLED);
      await run(ledger, leave(holder.member));
      // The victim may be anywhere: between two tasks, in a claim, or in a completion that may be on disk.
      const count = () => racers.reduce((sum, { lines }) => sum + lines.length, 0);
      await expect.poll(count, { interval: 1 }).toBeGreaterThan(TASKS / 2);
      victim.kill('SIGKILL');
      expect(await victim.ended).toEqual(KILLED);
      await run(ledger, leave(victim.member));
      await run(ledger, claim(REFEREE, last), complete(REFEREE, last));
      for (const { ended } of others) expect(await ended).toEqual(WELL);

      const history = await readHistory(journal);
      expect(history.completions).toHaveLength(TASKS + 1);
      const twice = history.claims.filter(({ epoch }) => epoch > 1).map(({ id }) => id);
      expect(twice).toEqual(expect.arrayContaining(idsSaid(holder, 'holds')));
      expect(history.claims).toHaveLength(TASKS + 1 + twice.length);
      tell({ claims: history.claims.length, kills: 2 });
      const byDead = history.completions.filter(({ member }) => member === victim.member).map(({ id }) => id);
      expect(byDead).toEqual(expect.arrayContaining(idsSaid(victim, 'done')));
    },
  );
});

const WORKERS = Array.from({ length: RACERS }, (_, i) => `worker-${i + 1}`);

const REFEREE = 'referee';

const WELL = { code: 0, signal: null, errors: '' };
const KILLED = { code: null, signal: 'SIGKILL', errors: '' };

type Racer = ReturnType<typeof startRacer>;

/** A team of racers. Most tasks depend on up to three earlier ones; every 10th can be reserved for a member. */
async function prepareRace({ reservedFor }: { reservedFor?: string | undefined } = {}) {
  const path = joinPath(temporaryFolder(), 'journal.db');
  const journal = sqlitePlace(path).open();
  const ledger = openLedger(journal);
  await createTeam(ledger, { members: [...WORKERS, REFEREE] });
  const tasks = Array.from({ length: TASKS }, (_, i) => {
    // The graph is always the same. About 15 tasks are ready at a time: enough to compete for, but not for all.
    const dependencies = [7, 11, 16].map((back, n) => i + 1 - back - ((i * (n + 3)) % 5)).filter((id) => id > 0);
    return task(`task ${i + 1}`, {
      dependencies: dependencies.map(String),
      priority: i % 10 === 0 ? 'high' : 'medium',
      ...(i % 10 === 0 && { assigneeId: reservedFor }),
    });
  });
  await run(ledger, ...tasks);
  return { path, journal, ledger };
}

function startRacer(path: string, member: string, how: 'next' | 'hold' | `by-id ${string}`) {
  return { member, ...startFixture('ledger-racer', [path, TEAM, member, ...how.split(' ')]) };
}

/** For each claim of a racer, which of the first four ready tasks it takes: `0312…`. */
function draw(random: () => number): string {
  return Array.from({ length: 100 }, () => Math.floor(random() * 4)).join('');
}

/** The ids of the tasks that a racer reported as done, or as held, in order. */
function idsSaid({ lines }: Racer, word: 'done' | 'holds'): string[] {
  return lines.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length + 1));
}

interface Turn {
  readonly id: string;
  readonly member: string;
  readonly epoch: number;
}

/** Replays the batches by hand, and checks that each claim and completion was valid at its time. */
async function readHistory(journal: Journal): Promise<{ claims: Turn[]; completions: Turn[] }> {
  const dependencies = new Map<string, readonly string[]>();
  const holders = new Map<string, Turn>();
  const epochs = new Map<string, number>();
  const completed = new Set<string>();
  const claims: Turn[] = [];
  const completions: Turn[] = [];
  const events: TeamEvent[] = [];
  for await (const batch of journal.read(TEAM, 0)) events.push(...batch.events);
  for (const event of events) {
    if (event.type === 'task:created') {
      dependencies.set(event.taskId, event.dependencies);
      epochs.set(event.taskId, 0);
    } else if (event.type === 'task:claimed') {
      const { taskId: id, memberId: member, epoch } = event;
      expect(holders.get(id)).toBeUndefined();
      expect(completed.has(id)).toBe(false);
      expect(epoch).toBe((epochs.get(id) ?? NaN) + 1);
      expect(dependencies.get(id)?.filter((dependency) => !completed.has(dependency))).toEqual([]);
      const turn = { id, member, epoch };
      holders.set(id, turn);
      epochs.set(id, epoch);
      claims.push(turn);
    } else if (event.type === 'task:released') {
      expect(holders.get(event.taskId)?.member).toBe(event.memberId);
      expect(event.epoch).toBe((epochs.get(event.taskId) ?? NaN) + 1);
      holders.delete(event.taskId);
      epochs.set(event.taskId, event.epoch);
    } else if (event.type === 'task:completed') {
      const turn = holders.get(event.taskId);
      expect(turn?.member).toBe(event.by);
      holders.delete(event.taskId);
      completed.add(event.taskId);
      completions.push(turn as Turn);
    }
  }
  expect(holders.size).toBe(0);
  expect(completed.size).toBe(dependencies.size);
  return { claims, completions };
}

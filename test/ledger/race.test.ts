import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join as joinPath } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { TeamEvent } from '../../src/core/event.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { createTeam, leave, run, task, TEAM } from './commands.ts';
import { openLedger, sqlitePlace } from './places.ts';

const RACER = joinPath(import.meta.dirname, '../fixtures/ledger-racer.ts');
const TASKS = 1000;

describe('eight processes that race for 1,000 tasks on one file', { timeout: 60_000 }, () => {
  test('take each once, lose none, and keep the order of dependencies', async () => {
    const { path, journal } = await prepareRace();
    const racers = WORKERS.map((member, i) => startRacer(path, member, i < 6 ? 'next' : 'by-id'));
    for (const { exited } of racers) expect(await exited).toEqual([0, null]);

    const history = await readHistory(journal);
    expect(history.completions).toHaveLength(TASKS);
    expect(history.claims).toHaveLength(TASKS);
    // What each was told is what happened: nobody was told of a task that another got.
    for (const { member, done } of racers) {
      const recorded = history.completions.filter((completion) => completion.member === member);
      expect(recorded.map(({ id }) => id)).toEqual(done);
    }
  });

  test('complete each once although two of them are killed and their tasks go to others', async () => {
    const { path, journal, ledger } = await prepareRace();
    const racers = WORKERS.map((member, i) => startRacer(path, member, i === 0 ? 'hold' : i < 6 ? 'next' : 'by-id'));
    const [holder, victim, ...others] = racers as [Racer, Racer, ...Racer[]];
    await expect.poll(() => holder.holds, { timeout: 50_000 }).toBeDefined();
    holder.child.kill('SIGKILL');
    expect(await holder.exited).toEqual([null, 'SIGKILL']);
    await run(ledger, leave(holder.member));
    // Wherever it is by then: between two tasks, in a claim, or in a completion that is or is not yet on the disk.
    const count = () => racers.reduce((sum, { done }) => sum + done.length, 0);
    await expect.poll(count, { timeout: 50_000, interval: 1 }).toBeGreaterThan(TASKS / 2);
    victim.child.kill('SIGKILL');
    expect(await victim.exited).toEqual([null, 'SIGKILL']);
    await run(ledger, leave(victim.member));
    for (const { exited } of others) expect(await exited).toEqual([0, null]);

    const history = await readHistory(journal);
    expect(history.completions).toHaveLength(TASKS);
    const twice = history.claims.filter(({ epoch }) => epoch > 1).map(({ id }) => id);
    expect(twice).toContain(holder.holds);
    expect(history.claims).toHaveLength(TASKS + twice.length);
    const byDead = history.completions.filter(({ member }) => member === victim.member).map(({ id }) => id);
    expect(byDead).toEqual(expect.arrayContaining(victim.done));
  });
});

const WORKERS = Array.from({ length: 8 }, (_, i) => `worker-${i + 1}`);

interface Racer {
  readonly member: string;
  readonly child: ChildProcess;
  readonly exited: Promise<unknown[]>;
  /** Which tasks it was told to have completed, in order. */
  readonly done: string[];
  holds?: string;
}

/** A team of eight, and tasks of which most wait for up to three earlier ones. */
async function prepareRace() {
  const path = joinPath(temporaryFolder(), 'journal.db');
  const journal = sqlitePlace(path).open();
  const ledger = openLedger(journal);
  await createTeam(ledger, { members: WORKERS });
  const tasks = Array.from({ length: TASKS }, (_, i) => {
    // Always the same graph: some 15 tasks are ready at a time, enough to fight for and not enough for all.
    const dependencies = [7, 11, 16].map((back, n) => i + 1 - back - ((i * (n + 3)) % 5)).filter((id) => id > 0);
    return task(`task ${i + 1}`, {
      dependencies: dependencies.map(String),
      priority: i % 10 === 0 ? 'high' : 'medium',
    });
  });
  await run(ledger, ...tasks);
  return { path, journal, ledger };
}

function startRacer(path: string, member: string, how: 'next' | 'by-id' | 'hold'): Racer {
  const child = spawn(process.execPath, [RACER, path, TEAM, member, how], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const racer: Racer = { member, child, exited: once(child, 'close'), done: [] };
  createInterface(child.stdout).on('line', (line) => {
    const [word, id = ''] = line.split(' ');
    if (word === 'done') racer.done.push(id);
    else racer.holds = id;
  });
  return racer;
}

interface Turn {
  readonly id: string;
  readonly member: string;
  readonly epoch: number;
}

/** Goes through the batches with a pencil: who holds what, and whether each claim and completion was right at its time. */
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

import { expect, onTestFinished, test, vi } from 'vitest';
import type { AgentEvent, Permission, TurnEnd } from '../../src/agents/agent.ts';
import type { TurnWatch } from '../../src/teammate/silence.ts';
import { seededRandom } from '../seed.ts';
import { watchForAlarms } from './alarms.ts';

/*
 * Turns that go well, generated and not recorded. How long programs are silent in such turns was measured with real
 * programs on scripted models: the longest pauses after which each went on by itself are in the table. The mix of pauses
 * is ours.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Turns in which the clocks ran so long in total. While somebody is waited for, they stand still. */
const TOTAL = 100 * HOUR;

/** A range of pauses, in milliseconds. */
type Pauses = readonly [least: number, most: number];

interface Manner {
  readonly name: string;
  readonly isProgram?: true;
  /** A model call that nothing disturbs. */
  readonly answers: Pauses;
  /** Pauses of model calls after which the program tried again by itself, without a word. */
  readonly retries: readonly Pauses[];
  /** How long it waits for an overloaded model when it says so, and whether it names the end of the wait. */
  readonly waits?: { readonly pauses: Pauses; readonly isNamed: boolean };
  /** How long a command runs before the program itself ends it or puts it aside. */
  readonly commands: Pauses;
  /** It repeats that a tool runs, this often. */
  readonly beats?: number;
}

const MANNERS: readonly Manner[] = [
  {
    name: 'claude',
    answers: [2 * SECOND, 90 * SECOND],
    // A stream that stopped, and a call without any answer.
    retries: [
      [300 * SECOND, 310 * SECOND],
      [366 * SECOND, 388 * SECOND],
    ],
    // A limit that it waits out inside the turn may be hours away.
    waits: { pauses: [MINUTE, 2 * HOUR], isNamed: true },
    commands: [SECOND, 120 * SECOND],
    beats: 30 * SECOND,
  },
  {
    name: 'codex',
    answers: [2 * SECOND, 180 * SECOND],
    retries: [[300 * SECOND, 310 * SECOND]],
    waits: { pauses: [SECOND, 30 * SECOND], isNamed: false },
    commands: [SECOND, 30 * SECOND],
  },
  {
    name: 'gemini',
    answers: [2 * SECOND, 60 * SECOND],
    // Up to 10 silent tries of an overloaded model, a stream that stopped, and 8 calls without any answer.
    retries: [
      [138 * SECOND, 215 * SECOND],
      [328 * SECOND, 383 * SECOND],
      [8 * 61 * SECOND, 8 * 97 * SECOND],
    ],
    commands: [SECOND, 5 * MINUTE],
  },
  {
    name: 'opencode',
    answers: [2 * SECOND, 60 * SECOND],
    // Two streams that stopped, and a wait as long as the provider named.
    retries: [
      [2 * 300 * SECOND, 2 * 310 * SECOND],
      [40 * SECOND, 45 * SECOND],
    ],
    commands: [SECOND, 2 * MINUTE],
  },
  // A program without a word for most of an hour.
  { name: 'exec', isProgram: true, answers: [SECOND, 55 * MINUTE], retries: [], commands: [0, 0] },
];

test('no alarm in 100 hours of generated normal turns; a turn that hangs among them is noticed', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const random = seededRandom();
  const between = ([least, most]: Pauses): number => least + random() * (most - least);
  const alarms: string[] = [];
  let turns = 0;
  /** How long the clocks ran, and the longest pause. */
  let ran = 0;
  let longest = 0;

  /** Lets time pass, one look of the clock at a time. */
  async function pass(ms: number): Promise<void> {
    ran += ms;
    longest = Math.max(longest, ms);
    await wait(ms);
  }

  async function wait(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 15 * SECOND) {
      vi.advanceTimersByTime(Math.min(left, 15 * SECOND));
      // A look takes some steps of its own.
      for (let step = 0; step < 10; step++) await Promise.resolve();
    }
  }

  async function turnOf(manner: Manner, watch: TurnWatch): Promise<void> {
    const calls = 1 + Math.floor(random() * (manner.isProgram ? 3 : 40));
    for (let call = 0; call < calls; call++) {
      if (random() < 0.03 && manner.retries.length > 0) {
        await pass(between(manner.retries[Math.floor(random() * manner.retries.length)] as Pauses));
      }
      const { waits } = manner;
      if (random() < 0.02 && waits) {
        const ms = between(waits.pauses);
        watch.hear({ type: 'waiting', reason: 'overloaded', ...(waits.isNamed && { until: Date.now() + ms }) });
        await wait(ms);
      }
      await pass(between(manner.answers));
      watch.hear({ type: 'text', text: 'Reading on' });
      if (!manner.isProgram) await useTool(manner, watch, `t${call}`);
    }
  }

  async function useTool(manner: Manner, watch: TurnWatch, id: string): Promise<void> {
    const kind = random();
    const tool = (name: string, status: 'running' | 'done'): AgentEvent => ({ type: 'tool', id, name, status });
    if (kind < 0.5) {
      watch.hear(tool('Read', 'running'));
      await pass(between([10, 2 * SECOND]));
      watch.hear(tool('Read', 'done'));
    } else if (kind < 0.9) {
      watch.hear(tool('Bash', 'running'));
      const { beats = Infinity } = manner;
      for (let left = between(manner.commands); left > 0; left -= beats) {
        await pass(Math.min(left, beats));
        watch.hear(tool('Bash', 'running'));
      }
      watch.hear(tool('Bash', 'done'));
    } else if (kind < 0.93) {
      // A build of its own, with the limit of an hour in sight.
      watch.hear(tool('Bash', 'running'));
      await pass(between([10 * MINUTE, 55 * MINUTE]));
      watch.hear(tool('Bash', 'done'));
    } else if (kind < 0.97) {
      // It completes a task, and gates and people take their time.
      watch.hear(tool('mcp__troupe__TaskUpdate', 'running'));
      await wait(between([SECOND, HOUR]));
      watch.hear(tool('mcp__troupe__TaskUpdate', 'done'));
    } else {
      const wish = { id, tool: 'Bash', description: 'make', input: {}, answer: () => {} } as unknown as Permission;
      const { answer } = watch.asked(wish);
      await wait(between([SECOND, 2 * HOUR]));
      answer({ allow: true });
    }
  }

  const watchOf = ({ isProgram }: Manner): TurnWatch => watchForAlarms(alarms, { isProgram: isProgram === true });
  const run = (watch: TurnWatch, turn: () => Promise<void>) =>
    watch.during(async (): Promise<TurnEnd> => (await turn(), { type: 'turnEnd', reason: 'done', text: '' }), {
      wasInterrupted: false,
    });

  while (ran < TOTAL) {
    const manner = MANNERS[turns++ % MANNERS.length] as Manner;
    const watch = watchOf(manner);
    await run(watch, () => turnOf(manner, watch));
    expect(alarms, `turn ${turns}, of ${manner.name}`).toEqual([]);
  }
  // The same clocks with a model that never answers, also after the program said that it tries again.
  const heard = [expect.stringMatching(/^told nothing heard for 15 minutes/), 'told undefined'];
  for (const ms of [0, HOUR]) {
    const hung = watchOf(MANNERS[1] as Manner);
    await run(hung, async () => {
      hung.hear({ type: 'waiting', reason: 'overloaded', ...(ms > 0 && { until: Date.now() + ms }) });
      await wait(ms);
      expect(alarms).toEqual([]);
      await pass(16 * MINUTE);
    });
    expect(alarms.splice(0)).toEqual(heard);
  }
  expect(turns).toBeGreaterThan(MANNERS.length);
  expect(longest).toBeGreaterThan(10 * MINUTE);
});

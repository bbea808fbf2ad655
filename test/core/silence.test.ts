import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeSilence } from '../../src/core/silence-words.ts';
import {
  forgetTime,
  hearEvent,
  NEW_TURN,
  passTime,
  processStep,
  pulseEvery,
  SILENCE,
  showsLife,
  stepFor,
  tooSilent,
} from '../../src/core/silence.ts';
import type { Heard, TurnClock } from '../../src/core/silence.ts';

const MINUTE = 60_000;
const isOurs = (tool: string): boolean => tool.startsWith('mcp__troupe__');
const AGENT = { isProgram: false };
const tool = (id: string, name: string, isRunning = true): Heard => ({ type: 'tool', id, name, isRunning });

/** Hears events, and lets minutes pass between them. */
function play(...steps: readonly (Heard | number)[]): TurnClock {
  return steps.reduce<TurnClock>(
    (clock, step) => (typeof step === 'number' ? passTime(clock, step * MINUTE, isOurs) : hearEvent(clock, step)),
    NEW_TURN,
  );
}

test('a process without a sign of life is told after a fifth of its limit, then replaced', () => {
  const stepAt = (minutes: number) => processStep(minutes * MINUTE, undefined, pulseEvery()).step;
  expect([0, 2.9, 3, 14.9, 15].map(stepAt)).toEqual(['none', 'none', 'tell', 'tell', 'restart']);
  // It began with an agent whose limit was longer, so it beats less often than the new limit wants.
  expect(processStep(20_000, { process: 1_000 }, 10_000)).toEqual({ step: 'tell', limit: 100_000 });
  expect([pulseEvery('off'), pulseEvery({ process: 1_000 })]).toEqual([10_000, 100]);
});

describe('a turn is too silent', () => {
  test('when nothing was heard for 15 minutes and no tool runs', () => {
    expect(tooSilent(play(14.9), {}, AGENT)).toBeUndefined();
    expect(tooSilent(play(15), {}, AGENT)).toEqual({ tool: undefined, ms: 15 * MINUTE, limit: SILENCE.model });
    expect(tooSilent(play(14.9, { type: 'sign' }, 14.9), {}, AGENT)).toBeUndefined();
  });

  test('when a tool has run for 60 minutes, whatever it says meanwhile; a tool may have a limit of its own', () => {
    const beats = Array.from({ length: 59 }, () => [1, tool('1', 'Bash')]).flat();
    expect(tooSilent(play(tool('1', 'Bash'), ...beats), {}, AGENT)).toBeUndefined();
    expect(tooSilent(play(tool('1', 'Bash'), ...beats, 1), {}, AGENT)).toMatchObject({ tool: 'Bash', ms: 60 * MINUTE });
    expect(tooSilent(play(tool('1', 'Bash'), 60, tool('1', 'Bash', false)), {}, AGENT)).toBeUndefined();
    const limits = { tools: { Bash: 120 * MINUTE }, tool: 10 * MINUTE };
    expect(tooSilent(play(tool('1', 'Bash'), tool('2', 'Read'), 20), limits, AGENT)).toMatchObject({ tool: 'Read' });
    expect(tooSilent(play(tool('1', 'constructor'), 9), limits, AGENT)).toBeUndefined();
  });

  test('never while a person, the model or the team is waited for', () => {
    expect(tooSilent(play({ type: 'asked' }, 600), {}, AGENT)).toBeUndefined();
    expect(tooSilent(play({ type: 'asked' }, 600, { type: 'answered' }, 14), {}, AGENT)).toBeUndefined();
    expect(tooSilent(play({ type: 'asked' }, 600, { type: 'answered' }, 15), {}, AGENT)).toBeDefined();
    expect(tooSilent(play({ type: 'waiting', ms: 600 * MINUTE }, 600), {}, AGENT)).toBeUndefined();
    expect(tooSilent(play(tool('1', 'mcp__troupe__TaskUpdate'), tool('2', 'Bash'), 600), {}, AGENT)).toBeUndefined();
  });

  test('after the time that it said it would wait, or at once if it named none: the next try may hang, too', () => {
    const waiting = (minutes?: number): Heard => ({ type: 'waiting', ms: minutes && minutes * MINUTE });
    expect(tooSilent(play(waiting(60), 74), {}, AGENT)).toBeUndefined();
    expect(tooSilent(play(waiting(60), 70, 5), {}, AGENT)).toMatchObject({ ms: 15 * MINUTE });
    expect(tooSilent(play(10, waiting(), 14), {}, AGENT)).toBeUndefined();
    expect(tooSilent(play(10, waiting(), 15), {}, AGENT)).toMatchObject({ ms: 15 * MINUTE });
    expect(tooSilent(play(waiting(60), { type: 'sign' }, 15), {}, AGENT)).toBeDefined();
    expect(tooSilent(play(tool('1', 'Bash'), waiting(60), 119), {}, AGENT)).toBeUndefined();
    expect(tooSilent(play(tool('1', 'Bash'), waiting(60), 120), {}, AGENT)).toMatchObject({ tool: 'Bash' });
  });

  test('if it is a program, only after the time of a tool', () => {
    expect(tooSilent(play(59), {}, { isProgram: true })).toBeUndefined();
    expect(tooSilent(play(60), {}, { isProgram: true })).toMatchObject({ limit: SILENCE.tool });
  });

  test('in no story in which something happens within every limit', () => {
    const event = fc.oneof(
      fc.constant<Heard>({ type: 'sign' }),
      fc.record({
        type: fc.constant('tool' as const),
        id: fc.constantFrom('1', '2'),
        name: fc.constantFrom('Bash', 'Read', 'mcp__troupe__SendMessage'),
        isRunning: fc.boolean(),
      }),
    );
    const story = fc.array(fc.tuple(fc.integer({ min: 0, max: 14 }), event), { maxLength: 60 });
    fc.assert(
      fc.property(story, (steps) => {
        let clock = NEW_TURN;
        for (const [minutes, heard] of steps) {
          clock = hearEvent(passTime(clock, minutes * MINUTE, isOurs), heard);
          const longest = Math.max(0, ...[...clock.tools.values()].map(({ ms }) => ms));
          expect(tooSilent(clock, {}, AGENT) === undefined).toBe(longest < SILENCE.tool);
        }
      }),
    );
  });
});

test('it is told, nudged and interrupted with pauses between; after one interruption a person is asked', () => {
  const steps = (wasInterrupted: boolean) =>
    [100, 119, 120, 139, 140, 1_000].map((ms) => stepFor({ ms, limit: 100 }, wasInterrupted));
  expect(steps(false)).toEqual(['tell', 'tell', 'nudge', 'nudge', 'interrupt', 'interrupt']);
  expect(steps(true)).toEqual(['tell', 'tell', 'nudge', 'nudge', 'ask', 'ask']);
});

test('processor time and changed files are life, but only while a tool runs', () => {
  const evidence = { processes: 2, cpuMs: 90_000, hasChanged: false };
  const bash = { tool: 'Bash', ms: 65 * MINUTE, limit: 60 * MINUTE };
  expect(showsLife(evidence, bash)).toBe(true);
  expect(showsLife({ ...evidence, cpuMs: 900 }, bash)).toBe(false);
  expect(showsLife({ ...evidence, cpuMs: 900, hasChanged: true }, bash)).toBe(true);
  expect(showsLife(evidence, { ...bash, tool: undefined })).toBe(false);
  expect(describeSilence(bash, evidence)).toBe(
    'Bash has run for 65 minutes (2 processes, 90.0 s of processor time since the last look, no file changed)',
  );
  expect(describeSilence({ ...bash, tool: undefined }, { processes: 1, cpuMs: undefined, hasChanged: undefined })).toBe(
    'nothing heard for 65 minutes (1 process)',
  );
});

test('a sign of what a tool runs is one of the tool, and a person takes no time of the turn', () => {
  const running = [tool('t1', 'Task'), 50] as const;
  const quiet = (sign: Heard) => tooSilent(play(...running, sign, 20), {}, AGENT);
  expect(quiet({ type: 'sign', toolId: 't1' })).toBeUndefined();
  expect(quiet({ type: 'sign', toolId: 't2' })).toMatchObject({ tool: 'Task', ms: 70 * MINUTE });
  expect(quiet({ type: 'sign' })).toMatchObject({ tool: 'Task' });
  const forgotten = forgetTime(play(...running));
  expect(forgotten.tools).toEqual(new Map([['t1', { name: 'Task', ms: 0 }]]));
  expect(forgetTime(play(10)).quietMs).toBe(0);
});

test('of several silences the one that is longest over its limit counts', () => {
  const clock = play(tool('t1', 'Bash'), 30, tool('t2', 'Read'), 61);
  const limits = { tools: { Read: 1 * MINUTE, toString: undefined as never } };
  expect(tooSilent(clock, limits, AGENT)).toMatchObject({ tool: 'Read', limit: MINUTE });
  expect(tooSilent(clock, {}, AGENT)).toMatchObject({ tool: 'Bash', ms: 91 * MINUTE });
  expect(
    describeSilence({ tool: 'Bash', ms: 91 * MINUTE, limit: 1 }, { processes: 2, cpuMs: 50, hasChanged: true }),
  ).toBe('Bash has run for 91 minutes (2 processes, 0.1 s of processor time since the last look, files changed)');
});

test('nothing that is known of it is no life; the signs of a process come ten times within its limit', () => {
  const bash = { tool: 'Bash', ms: 65 * MINUTE, limit: 60 * MINUTE };
  const shows = (cpuMs: number | undefined) => showsLife({ processes: 1, cpuMs, hasChanged: undefined }, bash);
  expect([undefined, bash.limit / 50, bash.limit / 50 + 1].map(shows)).toEqual([false, false, true]);
  const limits = [undefined, 'off', {}, { process: 50_000 }, { process: 500 }] as const;
  expect(limits.map((one) => pulseEvery(one))).toEqual([10_000, 10_000, 10_000, 5_000, 100]);
});

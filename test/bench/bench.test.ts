import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ALL } from '../../bench/all.ts';
import { readArguments, textFor } from '../../bench/arguments.ts';
import { QUICK, runBenchmark } from '../../bench/benchmark.ts';
import type { Benchmark, Measured } from '../../bench/benchmark.ts';
import { interleave, keepInFlight, median, quantile } from '../../bench/rounds.ts';
import { COMPILED_CODE } from '../setup/compiled-code.ts';
import { HANG_MS } from '../until.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'bench', 'main.ts');

function bench(...args: string[]) {
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED_CODE };
  return spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8', timeout: HANG_MS, env });
}

const Result = z.looseObject({
  name: z.string(),
  unit: z.string(),
  value: z.number(),
  limit: z.string(),
  limitValue: z.number(),
  ratio: z.number(),
  peers: z.array(z.object({ name: z.string(), value: z.number(), ratio: z.number() })),
  ok: z.boolean(),
});

describe('the benchmarks', () => {
  test('are listed with their targets', () => {
    const { status, stdout } = bench('--list');
    expect(status).toBe(0);
    for (const { name, target } of ALL) {
      expect(stdout).toContain(`${name}\n`);
      expect(stdout).toContain(target);
    }
  });

  test('refuse a benchmark that does not exist', () => {
    const { status, stdout, stderr } = bench('claim-durable', 'clam-durable');
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('There is no benchmark "clam-durable"');
  });

  // Like the list and the refusal above, but without a start, which takes 0.8 s of processor time.
  test('have a help text, and name an option that does not exist', () => {
    for (const word of ['--help', '-h']) {
      const asked = readArguments([word]);
      expect(typeof asked === 'string' ? asked : textFor(asked.options)).toContain('--json   for programs');
    }
    expect(readArguments(['--jsno'])).toContain("Unknown option '--jsno'");
  });

  test('print one JSON object per line and nothing else with --json', () => {
    const { status, stdout } = bench('--quick', '--json', 'open', 'claim-flat');
    expect(status).toBe(0);
    const results = stdout
      .trimEnd()
      .split('\n')
      .map((line) => Result.parse(JSON.parse(line)));
    expect(results.map(({ name }) => name)).toEqual(['claim-flat', 'open']);
    const wanted = ['name', 'unit', 'value', 'limit', 'limitValue', 'ratio', 'peers', 'ok'];
    for (const result of results) expect(Object.keys(result).slice(0, wanted.length)).toEqual(wanted);
  });
});

describe('a benchmark', () => {
  const measured: Measured = { value: 3, limit: 'nothing', limitValue: 1, ratio: 3, peers: [], targets: [] };
  const made = (run: Benchmark['run']): Benchmark => ({ name: 'made', unit: 'x', about: '', target: '', run });

  test('is not ok if one of its targets is missed', async () => {
    const met = { what: 'speed', value: 3, atLeast: 3 };
    const missed = { what: 'cost', value: 3, atMost: 2 };
    const result = async (targets: Measured['targets']) =>
      runBenchmark(
        made(async () => ({ ...measured, targets })),
        QUICK,
      );
    expect(await result([met])).toMatchObject({ ok: true, targets: [{ ok: true }] });
    expect(await result([met, missed])).toMatchObject({ ok: false, targets: [{ ok: true }, { ok: false }] });
  });

  test('gives no figures if something was lost', async () => {
    const lost = made(async () => {
      throw new Error('1 of 10 messages is lost');
    });
    const result = await runBenchmark(lost, QUICK);
    expect(result).toMatchObject({ name: 'made', value: null, ratio: null, ok: false });
    expect(result.error).toContain('1 of 10 messages is lost');
  });
});

describe('the rounds', () => {
  test('measure the limit before and after each part, and leave out the first round', async () => {
    const done: string[] = [];
    let limits = 0;
    const limit = () => {
      done.push('limit');
      return ++limits;
    };
    const part = (name: string) => () => {
      done.push(name);
      return 10;
    };
    const found = await interleave({ rounds: 2, size: (full) => full }, limit, { a: part('a'), b: part('b') });
    expect(done.join(' ')).toBe(Array.from({ length: 3 }, () => 'limit a limit b limit').join(' '));
    expect(found.limit).toEqual([4, 5, 6, 7, 8, 9]);
    expect(found.parts).toEqual({ a: [10, 10], b: [10, 10] });
    expect(found.ratios.a).toEqual([10 / 4.5, 10 / 7.5]);
    expect(found.ratios.b).toEqual([10 / 5.5, 10 / 8.5]);
  });

  test('are summed up by their median', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 2])).toBe(3);
    expect(quantile([1, 2, 3, 4, 5], 1)).toBe(5);
  });

  test('keep a fixed number of calls in flight', async () => {
    let inFlight = 0;
    const seen: number[] = [];
    const calls = new Set<number>();
    await keepInFlight(3, 10, async (i) => {
      calls.add(i);
      seen.push(++inFlight);
      await new Promise(setImmediate);
      inFlight--;
    });
    expect(calls.size).toBe(10);
    expect(Math.max(...seen)).toBe(3);
  });
});

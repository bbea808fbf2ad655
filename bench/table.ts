import type { Benchmark, Result, Target } from './benchmark.ts';

const WHAT = 46;
const FIGURE = 10;

/** A list of the benchmarks, a few lines each. */
export function renderList(benchmarks: readonly Benchmark[]): string {
  return benchmarks.map(({ name, about, target }) => `${name}\n  ${about}\n  target: ${target}\n`).join('\n');
}

/** One result for people: the figure beside its limit, its peers, and every target with its verdict. */
export function renderResult(result: Result): string {
  const { name, unit, value, limit, limitValue, ratio, peers, targets, error } = result;
  if (error !== undefined || value === null || limitValue === null) return `${name}: FAILED\n${error}\n\n`;
  const lines = [
    `${name}: ${show(value)} ${unit}, ${ratio} times the limit`,
    row(limit ?? '', show(limitValue), unit),
    ...peers.map((peer) => row(peer.name, show(peer.value), `${unit}; ours is ${peer.ratio} times that`)),
    ...targets.map((target) => row(target.what, show(target.value), verdict(target))),
  ];
  return `${lines.join('\n')}\n\n`;
}

function row(what: string, figure: string, rest: string): string {
  return `  ${what.padEnd(WHAT)} ${figure.padStart(FIGURE)} ${rest}`;
}

function verdict(target: Target & { ok: boolean }): string {
  const bound = 'atLeast' in target ? `at least ${target.atLeast}` : `at most ${target.atMost}`;
  return `${bound.padEnd(16)} ${target.ok ? 'ok' : 'MISSED'}`;
}

function show(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 4 });
}

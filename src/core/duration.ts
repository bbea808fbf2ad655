import { z } from 'zod';

/**
 * A length of time within bounds. Programs send milliseconds; people type `30s` or `5m`, which the command line knows by
 * `x-unit`. A refusal names both bounds as people type them.
 */
export function durationOf(least: number, most: number) {
  const refusal = `must be from ${typedTime(least)} to ${typedTime(most)}`;
  return z.number().int().min(least, refusal).max(most, refusal).meta({ 'x-unit': 'ms' });
}

const UNITS = [
  ['d', 24 * 3_600_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** Milliseconds as people type them: `500ms`, `1s`, `5m`, `7d`. */
export function typedTime(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms > 0 && ms % length === 0) ?? (ms === 0 ? ['s', 1] : ['ms', 1]);
  return `${ms / size}${unit}`;
}

import { z } from 'zod';
import { typedTime } from './typed-time.ts';

/**
 * A length of time within bounds. Programs send milliseconds; people type `30s` or `5m`, which the command line knows by
 * `x-unit`. A refusal names both bounds as people type them.
 */
export function durationOf(least: number, most: number) {
  const refusal = `must be from ${typedTime(least)} to ${typedTime(most)}`;
  return z.number().int().min(least, refusal).max(most, refusal).meta({ 'x-unit': 'ms' });
}

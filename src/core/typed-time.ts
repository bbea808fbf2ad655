/* Apart from `duration.ts`, because the command line loads this, and needs no schemas. */

/** The units in which people type times, the largest first. */
const UNITS = [
  ['d', 24 * 3_600_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

const SIZES = new Map<string, number>([...UNITS, ['min', 60_000]]);

/** Parses `30s`, `1.5m` or `2h30m`, and plain milliseconds; undefined for anything else. */
export function parseTime(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^(\d+(\.\d+)?(ms|min|s|m|h|d))+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|min|s|m|h|d)/g);
  return Math.round(
    [...parts].reduce((sum, [, count, unit]) => sum + Number(count) * (SIZES.get(unit as string) as number), 0),
  );
}

/** Milliseconds as people type them: `500ms`, `1s`, `5m`, `7d`. */
export function typedTime(ms: number): string {
  if (ms === 0) return '0s';
  const [unit, size] = UNITS.find(([, length]) => ms % length === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

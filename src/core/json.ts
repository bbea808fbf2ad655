import { z } from 'zod';
import { JSON_DEPTH, METADATA_BYTES } from './limits.ts';
import { byteLength } from './text.ts';

type Free = Record<string, unknown>;

/** Looked at as it comes: `z.record` would drop a key "__proto__" without a word. */
const Plain = (z.unknown() as z.ZodType<Free, Free>)
  .superRefine((value, context) => {
    const problem = problemWith(value);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  })
  .meta({ type: 'object', additionalProperties: {} });

/** Free data that others attach to a record. Merged key by key on update; a key set to null is removed. */
export const Metadata = Plain.pipe(z.record(z.string(), z.unknown()));
export type Metadata = z.infer<typeof Metadata>;

/** The metadata after an update; undefined when nothing is left. */
export function mergeMetadata(before: Metadata | undefined, changes: Metadata | undefined): Metadata | undefined {
  if (!changes) return before;
  const merged = { ...before };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete merged[key];
    else merged[key] = value;
  }
  return Object.keys(merged).length > 0 ? merged : undefined;
}

/** Whether metadata is within its bound. */
export function fits(metadata: Metadata): boolean {
  return byteLength(JSON.stringify(metadata)) <= METADATA_BYTES;
}

function problemWith(value: Metadata): string | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || !isPlain(value, 0)) {
    return `must be JSON at most ${JSON_DEPTH} levels deep, without a key "__proto__"`;
  }
  return fits(value) ? undefined : `is larger than ${METADATA_BYTES} bytes`;
}

/** Only what JSON can carry there and back: a Map, a Date or a BigInt would change or throw on the way to disk. */
function isPlain(value: unknown, depth: number): boolean {
  if (depth > JSON_DEPTH) return false;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  // Spread, because `every` leaves out holes.
  if (Array.isArray(value)) return [...(value as unknown[])].every((item) => isPlain(item, depth + 1));
  if (typeof value !== 'object') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return Object.entries(value).every(([key, item]) => key !== '__proto__' && isPlain(item, depth + 1));
}

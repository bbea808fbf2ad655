import { z } from 'zod';
import { JSON_DEPTH, METADATA_BYTES } from './limits.ts';
import { byteLength } from './text.ts';

type Free = Record<string, unknown>;

/** Checks the raw value: `z.record` would silently drop a key "__proto__". */
const Plain = (z.unknown() as z.ZodType<Free, Free>)
  .superRefine((value, context) => {
    const problem = problemWith(value);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  })
  .meta({ type: 'object', additionalProperties: {} });

/** Free data that other programs attach to a record. Updates merge it key by key; a key set to null is removed. */
export const Metadata = Plain.pipe(z.record(z.string(), z.unknown()));
export type Metadata = z.infer<typeof Metadata>;

/** The metadata after an update; undefined if nothing is left. */
export function mergeMetadata(before: Metadata | undefined, changes: Metadata | undefined): Metadata | undefined {
  if (!changes) return before;
  const merged = { ...before };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete merged[key];
    else merged[key] = value;
  }
  return Object.keys(merged).length > 0 ? merged : undefined;
}

/** Whether metadata is within its limit. */
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

/** Accepts only what survives JSON: a Map, a Date or a BigInt would change or throw on the way to disk. */
function isPlain(value: unknown, depth: number): boolean {
  if (depth > JSON_DEPTH) return false;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  // Spread, because `every` skips holes.
  if (Array.isArray(value)) return [...(value as unknown[])].every((item) => isPlain(item, depth + 1));
  if (typeof value !== 'object') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return Object.entries(value).every(([key, item]) => key !== '__proto__' && isPlain(item, depth + 1));
}

/** Short enough that `JSON.parse` is cheap for any text. Characters. */
const SHORT_LENGTH = 4 * 1024;

/** How deep the structures around free data may be. */
const ENVELOPE_DEPTH = 16;

/**
 * Whether a text, parsed as JSON, would be deeper than any data of ours. `JSON.parse` takes 0.1 s for a megabyte of
 * brackets, so check foreign text with this first.
 */
export function isTooDeep(text: string): boolean {
  return text.length > SHORT_LENGTH && nestsDeeper(text, JSON_DEPTH + ENVELOPE_DEPTH);
}

/** Whether brackets nest deeper than `most`. It builds nothing and skips over strings. */
export function nestsDeeper(json: string, most: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > most) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function endOfText(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let before = end - 1;
    while (json.charCodeAt(before) === BACKSLASH) before--;
    // An even number of backslashes before the quote means that it is not escaped.
    if ((end - before) % 2 === 1) return end;
  }
  return json.length;
}

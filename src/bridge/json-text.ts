import { nestsDeeper } from '../core/json.ts';
import { JSON_DEPTH } from '../core/limits.ts';

/** At about 1 MB an inbox no longer reaches Claude Code's own model; ten times that is no file of its making. */
export const FILE_BYTES = 16 * 1024 * 1024;

/** What stands in a file of somebody else's, or why it is not taken. */
export type Decoded = { readonly value: unknown } | { readonly problem: string };

/** With `JSON.parse`'s source text a number keeps every digit: other programs may write more than we can count. */
const rawJson = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Keys that nobody has a use for but those who want to reach a prototype. */
const DANGEROUS: ReadonlySet<string> = new Set(['__proto__', 'constructor']);

/** What must be looked at value by value: a dangerous key, also in other letters, and numbers that JavaScript may not keep. */
const ODD = /__proto__|"constructor"|\\u00|[0-9]{16}|[0-9][.eE][0-9+-]|[:[,\s]-0/;

/**
 * Reads bytes that somebody else wrote as JSON. Depth, size and dangerous keys are looked at before anything is built; what
 * an editor or a half-done write may leave (nothing, half a text, two texts over each other, a byte order mark) is a problem and
 * never a value.
 */
export function decodeJson(bytes: Buffer): Decoded {
  if (bytes.length > FILE_BYTES) return { problem: `is larger than ${FILE_BYTES} bytes` };
  if (bytes.length === 0) return { problem: 'is empty' };
  let dangerous: string | undefined;
  try {
    const text = DECODER.decode(bytes);
    if (nestsDeeper(text, JSON_DEPTH)) return { problem: `is nested deeper than ${JSON_DEPTH} levels` };
    if (!ODD.test(text)) return { value: JSON.parse(text) as unknown };
    const value: unknown = JSON.parse(text, function keepExact(this: unknown, key, item: unknown, context?: unknown) {
      if (DANGEROUS.has(key)) dangerous = key;
      const source = (context as { source?: string } | undefined)?.source;
      if (typeof item !== 'number' || source === undefined || String(item) === source) return item;
      return rawJson(source);
    });
    return dangerous === undefined ? { value } : { problem: `has a key ${JSON.stringify(dangerous)}` };
  } catch {
    return { problem: 'is not whole JSON in UTF-8' };
  }
}

/** As Claude Code writes: two spaces, no line end after the last line. */
export function encodeJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

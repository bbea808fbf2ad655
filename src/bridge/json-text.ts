import { nestsDeeper } from '../core/json.ts';
import { JSON_DEPTH } from '../core/limits.ts';

/** At about 1 MB an inbox no longer reaches Claude Code's model. A file of ten times that is not its own. */
export const FILE_BYTES = 16 * 1024 * 1024;

/** Why a foreign file cannot be used. */
export interface Problem {
  /** In words that follow the file's name: `is empty`. */
  readonly problem: string;
  /** It is empty or cut off, because a process writes it in place or died during the write. */
  readonly torn?: boolean;
}

/** The decoded content of a foreign file, or the problem with it. */
export type Decoded = { readonly value: unknown } | Problem;

/** Keeps every digit of a number by its source text: other programs may write numbers that we cannot represent. */
const rawJson = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Keys that are useful only to reach a prototype. */
const DANGEROUS: ReadonlySet<string> = new Set(['__proto__', 'constructor']);

/** Signs that each value must be checked: a dangerous key, also escaped, or a number that JavaScript may not keep. */
const ODD = /__proto__|"constructor"|\\u00|[0-9]{16}|[0-9][.eE][0-9+-]|[:[,\s]-0/;

/**
 * Decodes JSON that another program wrote. Checks size, depth and dangerous keys before it builds a value. What an
 * editor or an unfinished write may leave is a problem, never a value. Examples: nothing, half a text, two texts over
 * each other, a byte order mark.
 */
export function decodeJson(bytes: Buffer): Decoded {
  if (bytes.length > FILE_BYTES) return { problem: `is larger than ${FILE_BYTES} bytes` };
  if (bytes.length === 0) return { problem: 'is empty', torn: true };
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
    return { problem: 'is not whole JSON in UTF-8', torn: true };
  }
}

/** Encodes as Claude Code does: two spaces, no newline at the end. */
export function encodeJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

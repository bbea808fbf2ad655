import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import type { Document, Scalar } from 'yaml';
import type { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { explainIssues } from './yaml-problems.ts';
import type { Path, Problem } from './yaml-problems.ts';

/** Larger than any handwritten file; a limit before the parser, since even a small file can keep it busy for long. */
const FILE_BYTES = 1024 * 1024;

/** The most problems listed: someone with more has misunderstood something and need not read them all. */
const TOLD_AT_ONCE = 10;

/**
 * Parses a file that a person wrote. A problem has line and column, what is allowed, and what was probably meant.
 * `check` finds what no schema can express. It gets the raw value and the schema's problems, so that both are reported
 * together.
 */
export function parseYamlFile<S extends z.ZodType>(
  schema: S,
  text: string,
  { name, check }: { name: string; check?: (value: unknown, problems: readonly Problem[]) => readonly Problem[] },
): z.output<S> {
  if (text.length > FILE_BYTES) throw new TeamError('invalid', `${name} is larger than ${FILE_BYTES} bytes`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  if (document.errors.length > 0) throw problemsOf(brokenPlaces(document, lines, at), name);
  const value = valueOf(document, name);
  const parsed = schema.safeParse(value);
  const misfits = parsed.success ? [] : explainIssues(parsed.error.issues, value, schema);
  const problems = [...misfits, ...(check?.(value, misfits) ?? [])];
  if (parsed.success && problems.length === 0) return parsed.data;
  const told = problems
    .map((one) => ({ ...one, offset: (one.isKey ? keyOffset : offsetOf)(document, one.path) }))
    .sort((a, b) => a.offset - b.offset)
    .map(({ offset, text: problem }) => `${at(offset)}: ${printable(problem)}`);
  throw problemsOf(told, name);
}

/** The position of a value in a readable file: `troupe.yaml:4:12`. */
export function placeIn(text: string, name: string, path: Path): string {
  const lines = new LineCounter();
  const { line, col } = lines.linePos(offsetOf(parseDocument(text, { lineCounter: lines }), path));
  return `${name}:${line}:${col}`;
}

/** The problems of a file, one per line, up to `TOLD_AT_ONCE`. */
export function problemsOf(problems: readonly string[], name: string): TeamError {
  const left = problems.length - TOLD_AT_ONCE;
  const more = left > 0 ? [`${name}: and ${left} more`] : [];
  return new TeamError('invalid', [...problems.slice(0, TOLD_AT_ONCE), ...more].join('\n'));
}

/** Where the text is not YAML. Only the first error of a line: the others mostly follow from it. */
function brokenPlaces(document: Document, lines: LineCounter, at: (offset: number) => string): string[] {
  const places = document.errors.map(({ pos: [offset], message }) => ({
    offset,
    line: lines.linePos(offset).line,
    message,
  }));
  return places
    .filter(({ line }, i) => places.findIndex((other) => other.line === line) === i)
    .map(({ offset, message }) => `${at(offset)}: ${withoutPlace(message)}`);
}

/** Removes the position, which the parser repeats before a drawing of the place. */
function withoutPlace(message: string): string {
  return (message.split('\n', 1)[0] ?? '').replace(/ at line \d+, column \d+:?$/, '');
}

/** A few aliases can expand to more than any memory holds, so the parser refuses to follow too many. */
function valueOf(document: Document, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new TeamError('invalid', `${name}: ${(error as Error).message}`, { cause: error });
  }
}

/** The offset of the value at a path, or of its nearest existing parent. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    const range = (node as { range?: [number, number, number] } | null | undefined)?.range;
    if (range) return range[0];
  }
  return 0;
}

/** The offset of an unknown key. */
function keyOffset(document: Document, path: Path): number {
  const map: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const pair = isMap(map) ? map.items.find(({ key }) => isScalar(key) && String(key.value) === path.at(-1)) : undefined;
  return (pair?.key as Scalar | undefined)?.range?.[0] ?? offsetOf(document, path);
}

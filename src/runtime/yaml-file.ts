import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import type { Document, Scalar } from 'yaml';
import type { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { explainIssues } from './yaml-problems.ts';
import type { Path } from './yaml-problems.ts';

/** Larger than any file by hand; a stop before the parser, which a small file can make work for long. */
const FILE_BYTES = 1024 * 1024;

/** Whoever wrote more than this wrong has misunderstood something, and need not read all of it. */
export const TOLD_AT_ONCE = 10;

/** What a file says, and where in it each thing stands, as `name:line:column`. */
export interface YamlFile<T> {
  readonly data: T;
  at(path: Path): string;
}

/** Reads a file that a person wrote. What is wrong is told with line and column, what is allowed, what was probably meant. */
export function parseYamlFile<S extends z.ZodType>(schema: S, text: string, name: string): YamlFile<z.output<S>> {
  if (text.length > FILE_BYTES) throw new TeamError('invalid', `${name} is larger than ${FILE_BYTES} bytes`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const [broken] = document.errors;
  if (broken) throw new TeamError('invalid', `${at(broken.pos[0])}: ${withoutPlace(broken.message)}`);
  const value = valueOf(document, name);
  const parsed = schema.safeParse(value);
  if (parsed.success) return { data: parsed.data, at: (path) => at(offsetOf(document, path)) };
  const problems = explainIssues(parsed.error.issues, value, schema);
  const told = problems
    .map((one) => ({ ...one, offset: (one.isKey ? keyOffset : offsetOf)(document, one.path) }))
    .sort((a, b) => a.offset - b.offset)
    .slice(0, TOLD_AT_ONCE)
    .map(({ offset, text: problem }) => `${at(offset)}: ${printable(problem)}`);
  const left = problems.length - told.length;
  if (left > 0) told.push(`${name}: and ${left} more`);
  throw new TeamError('invalid', told.join('\n'));
}

/** The parser says where once more, before a drawing of the place. */
function withoutPlace(message: string): string {
  return (message.split('\n', 1)[0] ?? '').replace(/ at line \d+, column \d+:?$/, '');
}

/** A few aliases can stand for more than any memory holds: the parser refuses to follow too many. */
function valueOf(document: Document, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new TeamError('invalid', `${name}: ${(error as Error).message}`, { cause: error });
  }
}

/** Where the value at a path begins; that of its nearest parent when it is not there. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    const range = (node as { range?: [number, number, number] } | null | undefined)?.range;
    if (range) return range[0];
  }
  return 0;
}

/** Where a key stands that has no business there. */
function keyOffset(document: Document, path: Path): number {
  const map: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const pair = isMap(map) ? map.items.find(({ key }) => isScalar(key) && String(key.value) === path.at(-1)) : undefined;
  return (pair?.key as Scalar | undefined)?.range?.[0] ?? offsetOf(document, path);
}

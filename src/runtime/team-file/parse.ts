import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import type { Document, Scalar } from 'yaml';
import { TeamError } from '../../core/errors.ts';
import { printable, quote } from '../../core/text.ts';
import { explainIssues } from './problems.ts';
import type { Path } from './problems.ts';
import { TeamFile } from './schema.ts';

/** Larger than any team file by hand; a stop before the parser, which a small file can make work for long. */
const FILE_BYTES = 1024 * 1024;

/** Whoever wrote more than this wrong has misunderstood something, and need not read all of it. */
const TOLD_AT_ONCE = 10;

/** Reads a team file. What is wrong is told with line and column. */
export function parseTeamFile(text: string, name: string): TeamFile {
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
  const parsed = TeamFile.safeParse(value);
  if (!parsed.success) {
    const problems = explainIssues(parsed.error.issues, value);
    const lines = problems
      .map((one) => ({ ...one, offset: (one.isKey ? keyOffset : offsetOf)(document, one.path) }))
      .sort((a, b) => a.offset - b.offset)
      .slice(0, TOLD_AT_ONCE)
      .map(({ offset, text }) => `${at(offset)}: ${printable(text)}`);
    const left = problems.length - lines.length;
    if (left > 0) lines.push(`${name}: and ${left} more`);
    throw new TeamError('invalid', lines.join('\n'));
  }
  checkReferences(parsed.data, (path) => at(offsetOf(document, path)));
  return parsed.data;
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

/** Names that are used must be there, and once. */
function checkReferences(file: TeamFile, at: (path: (string | number)[]) => string): void {
  const fail = (path: (string | number)[], what: string): never => {
    throw new TeamError('invalid', `${at(path)}: ${what}`);
  };
  const members = new Set<string>();
  file.members.forEach(({ name }, i) => {
    if (members.has(name)) fail(['members', i, 'name'], `there are two members ${quote(name)}`);
    members.add(name);
  });
  if (typeof file.lead === 'object') members.add(file.lead.name ?? 'lead');
  const ids = new Set(file.tasks.flatMap((task) => task.id ?? []));
  const seen = new Set<string>();
  file.tasks.forEach((task, i) => {
    if (task.id !== undefined && seen.has(task.id)) fail(['tasks', i, 'id'], `there are two tasks ${quote(task.id)}`);
    if (task.id !== undefined) seen.add(task.id);
    task.needs?.forEach((need, j) => {
      if (!ids.has(need)) fail(['tasks', i, 'needs', j], `no task has the id ${quote(need)}`);
    });
    if (task.assign !== undefined && !members.has(task.assign)) {
      fail(['tasks', i, 'assign'], `there is no member ${quote(task.assign)}`);
    }
  });
  const cycle = findCycle(file.tasks);
  if (cycle) {
    const index = file.tasks.findIndex((task) => task.id === cycle[0]);
    fail(['tasks', index, 'needs'], `these tasks wait for each other: ${cycle.join(' needs ')}`);
  }
}

function findCycle(tasks: TeamFile['tasks']): string[] | undefined {
  const needs = new Map(tasks.flatMap((task) => (task.id === undefined ? [] : [[task.id, task.needs ?? []] as const])));
  const done = new Set<string>();
  const walk = (id: string, path: string[]): string[] | undefined => {
    if (path.includes(id)) return [...path.slice(path.indexOf(id)), id];
    if (done.has(id)) return undefined;
    for (const need of needs.get(id) ?? []) {
      const cycle = walk(need, [...path, id]);
      if (cycle) return cycle;
    }
    done.add(id);
    return undefined;
  };
  for (const id of needs.keys()) {
    const cycle = walk(id, []);
    if (cycle) return cycle;
  }
  return undefined;
}

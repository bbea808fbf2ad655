import { parseSync } from 'vite';
import { isRemovable, mutateExpression } from './mutators.ts';
import type { Node, Place } from './mutators.ts';

/** One change of one place of a source file. */
export interface Mutant {
  readonly id: number;
  /** Relative to the root of the project. */
  readonly file: string;
  readonly line: number;
  readonly was: string;
  readonly now: string;
}

export interface Instrumented {
  readonly text: string;
  readonly mutants: readonly Mutant[];
}

/** What stands at one place of the source, and what can stand there instead. */
interface Site {
  readonly start: number;
  readonly end: number;
  readonly isStatement: boolean;
  readonly mutants: { readonly id: number; readonly now: string }[];
}

/**
 * The source with all its mutants in it, each behind a switch: `(__m(17) ? a <= b : a < b)`. So it is loaded once for many
 * mutants. Lines keep their numbers.
 */
export function instrument(
  file: string,
  source: string,
  { firstId, load }: { firstId: number; load: string },
): Instrumented {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  const sites = new Map<string, Site>();
  const mutants: Mutant[] = [];
  const add = (node: Node, now: string, isStatement: boolean): void => {
    const id = firstId + mutants.length;
    const key = `${node.start}:${node.end}`;
    const site = sites.get(key) ?? { start: node.start, end: node.end, isStatement, mutants: [] };
    if (site.mutants.some((one) => one.now === now)) return;
    site.mutants.push({ id, now });
    sites.set(key, site);
    const was = source.slice(node.start, node.end);
    const line = source.slice(0, node.start).split('\n').length;
    mutants.push({ id, file, line, was: oneLine(was), now: isStatement ? '' : oneLine(now) });
  };
  const text = (node: Node): string => source.slice(node.start, node.end);
  walk(program as unknown as Node, { parent: undefined, key: '', isStatic: true, isMessage: false, text }, add);
  const nested = [...sites.values()].sort((a, b) => a.start - b.start || b.end - a.end);
  const start = source.startsWith('#!') ? source.indexOf('\n') + 1 : 0;
  const body = render(source, { from: start, to: source.length, sites: nested });
  return { text: mutants.length === 0 ? source : `${source.slice(0, start)}${prefix(load)}${body}`, mutants };
}

/** Functions, because modules that import each other call them before their constants are there. */
function prefix(load: string): string {
  const make = `process.getBuiltinModule('node:module').createRequire(${JSON.stringify(load)})(${JSON.stringify(load)})`;
  return `function __m(n: number): boolean { return (globalThis.mutantSwitch ??= ${make})(n); } `;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** What only types, and what names other modules. */
const SKIPPED = ['ImportDeclaration', 'ExportAllDeclaration', 'ImportExpression', 'TaggedTemplateExpression'];
const WRAPPERS = ['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression', 'TSInstantiationExpression'];
const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

function walk(node: Node, place: Place, add: (node: Node, now: string, isStatement: boolean) => void): void {
  if (SKIPPED.includes(node.type) || (node.type.startsWith('TS') && !WRAPPERS.includes(node.type))) return;
  if (isRemovable(node)) add(node, '', true);
  else for (const now of mutateExpression(node, place)) add(node, now, false);
  const isMessage = place.isMessage || isError(node, place);
  const isStatic = place.isStatic && !FUNCTIONS.includes(node.type);
  for (const [key, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, { ...place, parent: node, key, isStatic, isMessage }, add);
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string' && 'start' in value;
}

function isError(node: Node, { text }: Place): boolean {
  if (node.type === 'ThrowStatement') return true;
  return node.type === 'NewExpression' && text(node['callee'] as Node).endsWith('Error');
}

function render(source: string, { from, to, sites }: { from: number; to: number; sites: readonly Site[] }): string {
  let text = '';
  let at = from;
  for (const [index, site] of sites.entries()) {
    if (site.start < at) continue;
    const inner = sites.slice(index + 1).filter(({ start, end }) => start >= site.start && end <= site.end);
    const original = render(source, { from: site.start, to: site.end, sites: inner });
    text += source.slice(at, site.start) + wrap(site, original);
    at = site.end;
  }
  return text + source.slice(at, to);
}

/** A mutated text has no switches in it: one mutant is on at a time. */
function wrap({ isStatement, mutants }: Site, original: string): string {
  if (isStatement) return `{ if (!__m(${mutants[0]?.id})) ${original} }`;
  const choices = mutants.map(({ id, now }) => `__m(${id}) ? (${now}) : `);
  return `(${choices.join('')}(${original}))`;
}

import { explainUnknown, NAMELESS } from '../../agents/catalog.ts';
import { isOwnAgent } from '../../core/agent-kinds.ts';
import { findNearest } from '../../core/nearest.ts';
import { quote } from '../../core/text.ts';
import type { Path, Problem } from '../yaml-problems.ts';

/** The names in an entry, as far as they have the right type. */
interface Named {
  readonly at: number;
  readonly name: string | undefined;
  readonly id: string | undefined;
  readonly title: string | undefined;
  readonly needs: readonly { readonly at: number; readonly id: string }[];
  readonly assign: string | undefined;
  readonly permissions: string | undefined;
}

/**
 * Checks that names are unique, that every referenced name exists, and that no task waits for itself. The file may have
 * other problems, the `misfits`: a name that may be hidden by one of them is not reported as missing.
 */
export function findBadReferences(file: unknown, misfits: readonly Problem[]): Problem[] {
  const problems: Problem[] = [];
  const note = (path: Path, text: string): number => problems.push({ path, isKey: false, text });
  const [members, tasks] = [entriesOf(file, 'members'), entriesOf(file, 'tasks')];
  const names = new Set<string>();
  for (const { at, name } of members) {
    if (name !== undefined && names.has(name)) note(['members', at, 'name'], `there are two members ${quote(name)}`);
    if (name !== undefined) names.add(name);
  }
  const lead = recordOf(recordOf(file)?.['lead']);
  if (lead) names.add(textOf(lead['name']) ?? 'lead');
  for (const { at, permissions } of members) {
    if (permissions !== 'lead' || lead) continue;
    note(['members', at, 'permissions'], 'no agent leads this team: list the rules here');
  }
  const ids = new Set<string>();
  for (const { at, id } of tasks) {
    if (id !== undefined && ids.has(id)) note(['tasks', at, 'id'], `there are two tasks ${quote(id)}`);
    if (id !== undefined) ids.add(id);
  }
  const knowsTasks = isWhole(file, misfits, ['tasks', 'id']);
  const knowsLead = lead?.['name'] !== undefined || !misfits.some(({ path }) => path[0] === 'lead');
  const knowsMembers = knowsLead && isWhole(file, misfits, ['members', 'name']);
  for (const { at, needs, assign } of tasks) {
    const unknown = knowsTasks ? needs.filter(({ id }) => !ids.has(id)) : [];
    for (const need of unknown) {
      const others = tasks.filter((task) => task.at !== at);
      note(['tasks', at, 'needs', need.at], `no task has the id ${quote(need.id)}${hintTask(need.id, others)}`);
    }
    if (knowsMembers && assign !== undefined && !names.has(assign)) {
      note(['tasks', at, 'assign'], `there is no member ${quote(assign)}${hint(assign, [...names])}`);
    }
  }
  problems.push(...findUnknownAgents(file, misfits));
  const cycle = findCycle(tasks);
  if (cycle) {
    const index = tasks.find(({ id }) => id === cycle[0])?.at ?? 0;
    note(['tasks', index, 'needs'], `these tasks wait for each other: ${cycle.join(' needs ')}`);
  }
  return problems;
}

/** At most this many names are listed in a hint. */
const FEW = 8;

/** A hint: the nearest known name, or the known names. */
function hint(word: string, known: readonly string[]): string {
  const nearest = findNearest(word, known);
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  return known.length > 0 && known.length <= FEW ? `; there is ${known.join(', ')}` : '';
}

/** People often write a task's title instead of its id. */
function hintTask(word: string, tasks: readonly Named[]): string {
  const titled = tasks.find(({ title }) => title?.toLowerCase() === word.toLowerCase());
  if (titled) return titled.id === undefined ? '; a task has that title: give it an id' : hint(titled.id, [titled.id]);
  const ids = tasks.flatMap(({ id }) => id ?? []);
  return hint(word, ids);
}

/** Agents whose name here is unknown. One that `agents` sets up may have any name, or its own command. */
function findUnknownAgents(file: unknown, misfits: readonly Problem[]): Problem[] {
  const { agents, lead, members } = recordOf(file) ?? {};
  const isOpen = ({ path, isKey }: Problem): boolean =>
    path[0] === 'agents' || path.length === 0 || (isKey && path.length === 1 && agents === undefined);
  if (misfits.some(isOpen)) return [];
  const list = Array.isArray(members) ? (members as unknown[]) : [];
  const entries = [
    { path: ['lead'] as Path, entry: lead },
    ...list.map((entry, at) => ({ path: ['members', at], entry })),
  ];
  return entries.flatMap(({ path, entry }) => {
    const { agent, command } = recordOf(entry) ?? {};
    if (typeof agent !== 'string') return [];
    const set = recordOf(recordOf(agents)?.[agent]);
    const named = set?.['agent'] ?? agent;
    if (typeof named !== 'string') return [];
    const hasCommand = (command ?? set?.['command']) !== undefined;
    if (hasCommand && !isOwnKind(named)) return [];
    const place = [...path, 'agent'];
    const isToldOf = misfits.some((one) => one.path.join('/') === place.join('/'));
    const text = isToldOf ? undefined : explainUnknown(named);
    return text === undefined
      ? []
      : [{ path: place, isKey: false, text: `${text.slice(0, 1).toLowerCase()}${text.slice(1)}` }];
  });
}

/** `agent: exec` with a command beside it would be taken for an agent of that name, which speaks ACP. */
function isOwnKind(name: string): boolean {
  const row = Object.hasOwn(NAMELESS, name) ? NAMELESS[name] : undefined;
  return row !== undefined && isOwnAgent(row);
}

/** Whether all names of a list are known: a misspelt `members` or `name` may hide some. */
function isWhole(file: unknown, misfits: readonly Problem[], [list, field]: readonly [string, string]): boolean {
  const value = recordOf(file)?.[list];
  return !misfits.some(({ path: [top, at, key], path, isKey }) => {
    if (path.length === 0) return true;
    if (path.length === 1) return isKey ? value === undefined : top === list;
    if (top !== list) return false;
    const entry = recordOf(Array.isArray(value) ? (value as unknown[])[Number(at)] : undefined);
    return path.length === 2 || key === field || (isKey && path.length === 3 && entry?.[field] === undefined);
  });
}

function entriesOf(file: unknown, list: string): Named[] {
  const value = recordOf(file)?.[list];
  if (!Array.isArray(value)) return [];
  return value.map((one: unknown, at) => {
    const entry = recordOf(one) ?? {};
    const needs = Array.isArray(entry['needs']) ? (entry['needs'] as unknown[]) : [];
    return {
      at,
      name: textOf(entry['name']),
      id: textOf(entry['id']),
      title: textOf(entry['title']),
      needs: needs.flatMap((need, place) => (typeof need === 'string' ? [{ at: place, id: need }] : [])),
      assign: textOf(entry['assign']),
      permissions: textOf(entry['permissions']),
    };
  });
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * The ids along the first cycle. Visits each task once, without recursion: a chain can be longer than the stack is
 * deep.
 */
function findCycle(tasks: readonly Named[]): string[] | undefined {
  const needs = new Map(tasks.flatMap(({ id, needs: before }) => (id === undefined ? [] : [[id, before] as const])));
  const done = new Set<string>();
  const path: { id: string; left: string[] }[] = [];
  const onPath = new Set<string>();
  const enter = (id: string): void => {
    path.push({ id, left: (needs.get(id) ?? []).map((need) => need.id).reverse() });
    onPath.add(id);
  };
  for (const start of needs.keys()) {
    if (!done.has(start)) enter(start);
    for (let last = path.at(-1); last; last = path.at(-1)) {
      const next = last.left.pop();
      if (next === undefined) {
        path.pop();
        onPath.delete(last.id);
        done.add(last.id);
      } else if (onPath.has(next)) {
        const ids = path.map(({ id }) => id);
        return [...ids.slice(ids.indexOf(next)), next];
      } else if (!done.has(next)) enter(next);
    }
  }
  return undefined;
}

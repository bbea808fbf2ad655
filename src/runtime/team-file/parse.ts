import { TeamError } from '../../core/errors.ts';
import { quote } from '../../core/text.ts';
import { parseYamlFile, TOLD_AT_ONCE } from '../yaml-file.ts';
import { TeamFile } from './schema.ts';

/** Reads a team file. What is wrong is told with line and column. */
export function parseTeamFile(text: string, name: string): TeamFile {
  const file = parseYamlFile(TeamFile, text, name);
  checkReferences(file.data, (path) => file.at(path));
  return file.data;
}

/** Names that are used must be there, and once, and no task may wait for itself. All that is wrong is told. */
function checkReferences(file: TeamFile, at: (path: (string | number)[]) => string): void {
  const problems: string[] = [];
  const tell = (path: (string | number)[], what: string): number => problems.push(`${at(path)}: ${what}`);
  const members = new Set<string>();
  file.members.forEach(({ name }, i) => {
    if (members.has(name)) tell(['members', i, 'name'], `there are two members ${quote(name)}`);
    members.add(name);
  });
  if (typeof file.lead === 'object') members.add(file.lead.name ?? 'lead');
  const ids = new Set(file.tasks.flatMap((task) => task.id ?? []));
  const seen = new Set<string>();
  file.tasks.forEach((task, i) => {
    if (task.id !== undefined && seen.has(task.id)) tell(['tasks', i, 'id'], `there are two tasks ${quote(task.id)}`);
    if (task.id !== undefined) seen.add(task.id);
    task.needs?.forEach((need, j) => {
      if (!ids.has(need)) tell(['tasks', i, 'needs', j], `no task has the id ${quote(need)}`);
    });
    if (task.assign !== undefined && !members.has(task.assign)) {
      tell(['tasks', i, 'assign'], `there is no member ${quote(task.assign)}`);
    }
  });
  const cycle = findCycle(file.tasks);
  if (cycle) {
    const index = file.tasks.findIndex((task) => task.id === cycle[0]);
    tell(['tasks', index, 'needs'], `these tasks wait for each other: ${cycle.join(' needs ')}`);
  }
  if (problems.length > 0) throw new TeamError('invalid', problems.slice(0, TOLD_AT_ONCE).join('\n'));
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

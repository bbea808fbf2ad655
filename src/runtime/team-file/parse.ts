import { TeamError } from '../../core/errors.ts';
import { quote } from '../../core/text.ts';
import { parseYamlFile } from '../yaml-file.ts';
import { TeamFile } from './schema.ts';

/** Reads a team file. What is wrong is told with line and column. */
export function parseTeamFile(text: string, name: string): TeamFile {
  const file = parseYamlFile(TeamFile, text, name);
  checkReferences(file.data, (path) => file.at(path));
  return file.data;
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

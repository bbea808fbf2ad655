import { quote } from '../../core/text.ts';
import { parseYamlFile, tell } from '../yaml-file.ts';
import { TeamFile } from './schema.ts';

/** Reads a team file. What is wrong is told with line and column. */
export function parseTeamFile(text: string, name: string): TeamFile {
  const file = parseYamlFile(TeamFile, text, name);
  const problems = checkReferences(file.data, (path) => file.at(path));
  if (problems.length > 0) throw tell(problems, name);
  return file.data;
}

/** Names that are used must be there, and once, and no task may wait for itself. All that is wrong is told. */
function checkReferences(file: TeamFile, at: (path: (string | number)[]) => string): string[] {
  const problems: string[] = [];
  const note = (path: (string | number)[], what: string): number => problems.push(`${at(path)}: ${what}`);
  const members = new Set<string>();
  file.members.forEach(({ name }, i) => {
    if (members.has(name)) note(['members', i, 'name'], `there are two members ${quote(name)}`);
    members.add(name);
  });
  if (typeof file.lead === 'object') members.add(file.lead.name ?? 'lead');
  const ids = new Set(file.tasks.flatMap((task) => task.id ?? []));
  const seen = new Set<string>();
  file.tasks.forEach((task, i) => {
    if (task.id !== undefined && seen.has(task.id)) note(['tasks', i, 'id'], `there are two tasks ${quote(task.id)}`);
    if (task.id !== undefined) seen.add(task.id);
    task.needs?.forEach((need, j) => {
      if (!ids.has(need)) note(['tasks', i, 'needs', j], `no task has the id ${quote(need)}`);
    });
    if (task.assign !== undefined && !members.has(task.assign)) {
      note(['tasks', i, 'assign'], `there is no member ${quote(task.assign)}`);
    }
  });
  const cycle = findCycle(file.tasks);
  if (cycle) {
    const index = file.tasks.findIndex((task) => task.id === cycle[0]);
    note(['tasks', index, 'needs'], `these tasks wait for each other: ${cycle.join(' needs ')}`);
  }
  return problems;
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

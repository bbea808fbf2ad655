import { statSync } from 'node:fs';
import { TeamError } from '../../core/errors.ts';
import type { ErrorFacts } from '../../core/errors.ts';
import { placeIn } from '../yaml-file.ts';
import type { Path } from '../yaml-problems.ts';
import { agentNameOf } from './agents.ts';
import { startedOf } from './fallbacks.ts';
import type { FileAgent } from './file-agents.ts';
import type { TeamFile } from './schema.ts';

/** The agents of a file that `check` refuses: one line per reason, with the places in the file. */
export function findUnrunnable(
  file: TeamFile,
  { source, name, folder }: { readonly source: string; readonly name: string; readonly folder: string },
  check: (agents: readonly FileAgent[]) => void,
): string[] {
  const places = new Map<string, Path[]>();
  for (const agent of startedOf(file, folder)) {
    try {
      check([agent]);
    } catch (error) {
      if (!(error instanceof TeamError) || error.code !== 'invalid') throw error;
      const text = `${error.message.slice(0, 1).toLowerCase()}${error.message.slice(1)}`;
      places.set(text, [
        ...(places.get(text) ?? []),
        settingAt(error.facts?.setting, agent, file) ?? pathOf(agent, file),
      ]);
    }
  }
  return [...places].map(([text, [first = [], ...others]]) => {
    const also = others.map((path) => placeIn(source, name, path).slice(name.length + 1));
    return `${placeIn(source, name, first)}${also.length > 0 ? ` (and ${also.join(', ')})` : ''}: ${text}`;
  });
}

/** The position of a refused setting: of the member, else of its agent, else (for a sandbox) of the file. */
function settingAt(
  field: ErrorFacts['setting'],
  { path, entry, place }: FileAgent,
  { agents, sandbox }: TeamFile,
): Path | undefined {
  if (field === undefined || (place && field !== 'sandbox')) return undefined;
  if (Object.hasOwn(entry, field)) return [...path, field];
  const name = typeof entry.agent === 'string' ? entry.agent : '';
  const set = agents && Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (set && Object.hasOwn(set, field)) return ['agents', name, field];
  return field === 'sandbox' && sandbox !== undefined ? ['sandbox'] : undefined;
}

/** The position in the file that names an agent's program, or its folder if that is missing. */
function pathOf({ path, entry, cwd, place }: FileAgent, { agents }: TeamFile): Path {
  if (place) return place;
  if (entry.cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return [...path, 'cwd'];
  if (entry.command !== undefined) return [...path, 'command'];
  if (typeof entry.agent === 'object') return [...path, 'agent', agentNameOf(entry.agent)];
  const set = agents?.[entry.agent];
  if (set?.command !== undefined) return ['agents', entry.agent, 'command'];
  return set?.agent === undefined ? [...path, 'agent'] : ['agents', entry.agent, 'agent'];
}

import { statSync } from 'node:fs';
import { TeamError } from '../../core/errors.ts';
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
        extraAt(text, agent, file) ?? sandboxAt(text, agent, file) ?? pathOf(agent, file),
      ]);
    }
  }
  return [...places].map(([text, [first = [], ...others]]) => {
    const also = others.map((path) => placeIn(source, name, path).slice(name.length + 1));
    return `${placeIn(source, name, first)}${also.length > 0 ? ` (and ${also.join(', ')})` : ''}: ${text}`;
  });
}

/** The position of an extra (`effort`, `mcp` …) that the agent does not take: such a refusal begins with its name. */
function extraAt(text: string, { path, entry, place }: FileAgent, { agents }: TeamFile): Path | undefined {
  const [, field] = /^(effort|mcp|skills|tools) /.exec(text) ?? [];
  if (field === undefined || place) return undefined;
  if (Object.hasOwn(entry, field)) return [...path, field];
  const set = typeof entry.agent === 'string' ? agents?.[entry.agent] : undefined;
  return set && Object.hasOwn(set, field) ? ['agents', entry.agent as string, field] : undefined;
}

/** The position of a sandbox that opens what it cannot: of the member, else of its agent, else of the file. */
function sandboxAt(text: string, { path, entry }: FileAgent, { agents }: TeamFile): Path | undefined {
  if (!/^a sandbox cannot (open|let) /.test(text)) return undefined;
  if (entry.sandbox !== undefined) return [...path, 'sandbox'];
  const name = typeof entry.agent === 'string' ? entry.agent : '';
  return agents?.[name]?.sandbox === undefined ? ['sandbox'] : ['agents', name, 'sandbox'];
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

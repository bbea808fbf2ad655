import { TeamError } from '../../core/errors.ts';
import type { StartOptions } from '../agent.ts';
import { ownServers } from '../extras.ts';
import type { AcpAgent } from './agents.ts';

/** The environment of an agent's process: the given one, our fixed variables, and the settings for the session. */
export function environmentFor(
  { set: always = {}, setThere, settings }: AcpAgent,
  start: StartOptions,
): Record<string, string> {
  const { env, copyOf, mode, model, tools, ownTools } = start;
  const set = { ...always, ...setThere?.({ env, copyOf }) };
  if (!settings) return { ...env, ...set };
  const { variable } = settings;
  const servers = [...(tools ? [tools.name] : []), ...ownServers(start).map(([name]) => name)];
  const ours = settings.value({ mode, model, servers, ownTools });
  return { ...env, ...set, [variable]: JSON.stringify(merge(readObject(variable, env[variable]), ours)) };
}

/** Keeps the user's settings in the same variable, except where ours differ. */
function merge(theirs: Record<string, unknown>, ours: object): Record<string, unknown> {
  const merged = { ...theirs };
  for (const [key, value] of Object.entries(ours) as [string, unknown][]) {
    merged[key] = isObject(value) && isObject(merged[key]) ? merge(merged[key], value) : value;
  }
  return merged;
}

function readObject(variable: string, text: string | undefined): Record<string, unknown> {
  if (text === undefined || text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw new TeamError('invalid', `env.${variable} of a member must be a JSON object`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { readFileSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { AgentRow } from '../agents/row.ts';
import type { AgentExtras, AgentSpec } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { SKILL_BYTES } from '../core/limits.ts';
import { quote } from '../core/text.ts';

/** Refuses extras that an agent does not take: without this they would be ignored. */
export function requireExtras(spec: AgentSpec, { title, takes }: Pick<AgentRow, 'title' | 'takes'>): void {
  for (const [field, values] of Object.entries(wishesOf(spec)) as [keyof AgentExtras, readonly string[]][]) {
    const taken = takes[field];
    if (taken === true || values.length === 0) continue;
    if ('not' in taken) refuse(field, `${field} is not for ${title}: ${taken.not}`);
    const unknown = values.find((value) => !taken.includes(value));
    if (unknown === undefined) continue;
    refuse(field, `${field} ${quote(unknown)} is unknown to ${title}: choose from ${taken.join(', ')}`);
  }
}

function refuse(setting: keyof AgentExtras, message: string): never {
  throw new TeamError('invalid', message, { facts: { setting } });
}

function wishesOf({ effort, mcp = {}, skills = [], tools = {} }: AgentSpec): Record<keyof AgentExtras, string[]> {
  return {
    effort: effort === undefined ? [] : [effort],
    mcp: Object.keys(mcp),
    skills,
    tools: [...(tools.allow ?? []), ...(tools.deny ?? [])],
  };
}

/**
 * The texts of a member's skills, from the first of these folders that has each. They are read once, at its start: what
 * it changes itself while it works does not instruct it before the next start.
 */
export function readSkills(paths: readonly string[], folders: readonly string[]): string[] {
  return paths.map((path) => {
    for (const folder of folders) {
      const text = readBelow(folder, path);
      if (text !== undefined) return text;
    }
    return refuse('skills', `There is no file ${quote(path)} in ${folders.join(' or ')}: skills names it`);
  });
}

function readBelow(folder: string, path: string): string | undefined {
  const file = fileBelow(folder, path);
  if (file === undefined) return undefined;
  const { size } = statSync(file);
  if (size > SKILL_BYTES) {
    refuse('skills', `${file} has ${size} bytes: a skill may have ${SKILL_BYTES}`);
  }
  return readFileSync(file, 'utf8');
}

/** The real path of a file; undefined if it is missing. A link must not lead out of the folder. */
function fileBelow(folder: string, path: string): string | undefined {
  try {
    const root = realpathSync(folder);
    const named = realpathSync(join(root, path));
    const file = statSync(named).isDirectory() ? realpathSync(join(named, 'SKILL.md')) : named;
    if (file.startsWith(`${root}${sep}`)) return file;
  } catch {
    return undefined;
  }
  return refuse('skills', `${quote(path)} leads out of ${folder}: skills must be below it`);
}

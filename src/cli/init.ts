import { accessSync, constants, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { Arguments } from './arguments.ts';
import { Refusal } from './errors.ts';
import { TEMPLATES } from './init/templates.ts';
import type { TemplateName } from './init/templates.ts';
import type { Surroundings } from './own.ts';
import { print, toJson } from './write.ts';

/** Agents that templates are made for, best known first; each is the name of its program too. */
const AGENTS = ['claude', 'codex', 'gemini', 'opencode'];

/** Writes a team file to start from, for the agents that are installed here. */
export async function run(given: Arguments, { environment }: Surroundings): Promise<number> {
  const { template, file, force = false } = given.input as { template: TemplateName; file: string; force?: boolean };
  const agents = AGENTS.filter((name) => isOnPath(name, environment['PATH']));
  const path = resolve(file);
  try {
    writeFileSync(path, TEMPLATES[template](agents), { flag: force ? 'w' : 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new Refusal('exists', `${file} is there already: choose another name or say --force`);
    throw new Refusal('storage', `Cannot write ${file}: ${message}`);
  }
  if (given.json) print(toJson({ file: path, template, agents }, undefined));
  else {
    const found =
      agents.length > 0 ? `for ${agents.join(', ')}` : 'with programs in place of agents: none was found on the path';
    print(`Wrote ${file}, ${found}. Read it, change it, then: troupe up ${file}\n`);
  }
  return 0;
}

function isOnPath(program: string, path: string | undefined): boolean {
  return (path ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}

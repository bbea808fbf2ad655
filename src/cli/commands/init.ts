import { writeFileSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suggestSlug } from '../../core/text.ts';
import type { ResultOf } from '../../operations/index.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { Refusal } from '../show/errors.ts';
import { pairs } from '../show/table.ts';
import { fold } from '../show/text.ts';
import { print, toJson } from '../show/write.ts';
import { findCheck } from './init/check.ts';
import { ABOUT, OF_PROGRAMS, writeTemplate } from './init/templates.ts';
import type { TemplateName } from './init/templates.ts';

interface InitInput {
  readonly template?: TemplateName;
  readonly agents?: readonly string[];
  readonly file?: string;
  readonly force?: boolean;
  readonly list?: boolean;
}

/** Writes a team file to start from, for the agents that are installed here. */
export async function run(given: Arguments, surroundings: Surroundings): Promise<number> {
  const { template = 'review', agents, file = 'troupe.yaml', force = false, list = false } = given.input as InitInput;
  if (list) return listTemplates(given, surroundings);
  const chosen = OF_PROGRAMS.includes(template) ? [] : await chooseAgents(agents, surroundings);
  const path = resolve(file);
  const team = nameFor(path, template);
  try {
    writeFileSync(
      path,
      writeTemplate(template, { team, agents: chosen, check: findCheck(dirname(path)), schema: schemaFor(path) }),
      {
        flag: force ? 'w' : 'wx',
      },
    );
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new Refusal('exists', `${file} already exists: choose another name or add --force`);
    throw new Refusal('storage', `Cannot write ${file}: ${message}`);
  }
  if (given.json) print(toJson({ file: path, team, template, agents: chosen }, undefined));
  else print(fold(`Wrote ${file}${whoIsIn(template, chosen)}, then: troupe up ${file}\n`, surroundings.screen));
  return 0;
}

/** Where an editor finds the schema: by a relative path if the project has its own Troupe, so that others can use it. */
function schemaFor(file: string): string {
  const schema = new URL('../../../schema/troupe.schema.json', import.meta.url);
  const path = relative(dirname(file), fileURLToPath(schema));
  // Spaces would end the address.
  return path.startsWith('..') || isAbsolute(path) ? schema.href : encodeURI(`./${path}`);
}

/** Team names are unique on the machine. So the name is the project's, with the file's unless that is `troupe`. */
function nameFor(path: string, template: TemplateName): string {
  const folder = basename(dirname(path));
  const file = basename(path, extname(path));
  // A folder name without a valid letter or digit would leave nothing.
  const project = /[a-z0-9]/i.test(folder.normalize('NFKD')) ? folder : template;
  return suggestSlug(file === 'troupe' ? project : `${project}-${file}`);
}

function listTemplates(given: Arguments, { screen }: Surroundings): number {
  const templates = Object.entries(ABOUT).map(([template, about]) => ({ template, about }));
  if (given.json) print(toJson(templates, screen.isTerminal ? 2 : undefined));
  else {
    const rows = templates.map(({ template, about }) => [{ text: template, style: 'bold' as const }, about]);
    print(pairs([{ title: 'TEMPLATE' }, { title: 'WHAT IT IS' }], rows, screen));
    print(fold('\nWrite one with troupe init TEMPLATE, run it with troupe up.\n', screen));
  }
  return 0;
}

function whoIsIn(template: TemplateName, agents: readonly string[]): string {
  if (OF_PROGRAMS.includes(template)) return '. Read it, put your programs in';
  if (agents.length > 0) return ` for ${agents.join(', ')}. Read it, change what you like`;
  return '. No agent is on the PATH: it is for claude until you install one (troupe agents says how) or write other names. Read it';
}

type Agents = ResultOf<'agent.list'>;

/** The named agents, else all installed ones. A variant such as `codex-acp` is left out if its agent is installed. */
async function chooseAgents(
  wanted: readonly string[] | undefined,
  { environment, signal }: Surroundings,
): Promise<string[]> {
  const client = openClient(environment);
  try {
    const known = await client.call('agent.list', { quick: true }, { signal });
    return wanted ? requireKnown(wanted, known) : known.filter(isHere).map(({ name }) => name);
  } finally {
    client.close();
  }
}

function isHere({ path, name }: Agents[number], _index: number, all: Agents): boolean {
  const own = all.find((other) => other.name !== name && name.startsWith(`${other.name}-`));
  return path !== undefined && own?.path === undefined;
}

function requireKnown(wanted: readonly string[], known: Agents): string[] {
  const names = known.filter(({ program }) => program !== '').map(({ name }) => name);
  const stranger = wanted.find((name) => !names.includes(name));
  if (stranger === undefined) return [...wanted];
  throw new Refusal('invalid', `There is no agent named ${stranger}: choose one of ${names.join(', ')}`);
}

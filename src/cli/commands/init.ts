import { writeFileSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suggestSlug } from '../../core/fields.ts';
import { explainFileError } from '../../core/file-errors.ts';
import type { ResultOf } from '../../operations/index.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { requirePlace } from '../reach/place.ts';
import { Refusal, UsageError } from '../show/errors.ts';
import { pairs } from '../show/table.ts';
import { fold } from '../show/text.ts';
import { print, toJson } from '../show/write.ts';
import { lookAtProject, wordMissing } from './init/look.ts';
import type { Project } from './init/look.ts';
import type { FoundAgent } from './init/project-file.ts';
import { ABOUT, OF_PROGRAMS, WITH_CHECK, writeTemplate } from './init/templates.ts';
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
  const { template = 'project', file = 'troupe.yaml', force = false, list = false, ...rest } = given.input as InitInput;
  if (list) return listTemplates(given, surroundings);
  requirePlace(file);
  if (rest.agents !== undefined && OF_PROGRAMS.includes(template)) {
    throw new UsageError(`The members of ${template} are programs: omit --agents, or choose another template`, 'init');
  }
  const known = OF_PROGRAMS.includes(template) ? [] : await chooseAgents(rest.agents, surroundings);
  const chosen = template === 'project' && rest.agents === undefined ? withLogin(known) : known;
  const path = resolve(file);
  const project = lookAtProject(dirname(path), surroundings.environment);
  const team = nameFor(path, { template, project });
  try {
    writeFileSync(path, writeTemplate(template, { team, agents: chosen, project, schema: schemaFor(path) }), {
      flag: force ? 'w' : 'wx',
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new Refusal('exists', `${file} already exists: choose another name or add --force`);
    }
    throw explainFileError(error, file, 'write');
  }
  const agents = chosen.map(({ name }) => name);
  if (given.json) {
    const { isRepository: _isRepository, name: _name, ...seen } = project;
    print(toJson({ file: path, team, template, agents, project: seen }, undefined));
  } else {
    const seen =
      template === 'project' ? whatIsSeen(project, chosen) : WITH_CHECK.includes(template) ? lacks(project) : '';
    print(fold(`Wrote ${file}${whoIsIn(template, agents)}, then: troupe up ${file}\n${seen}`, surroundings.screen));
  }
  return 0;
}

/** Where an editor finds the schema: by a relative path if the project has its own Troupe, so that others can use it. */
function schemaFor(file: string): string {
  const schema = new URL('../../../schema/troupe.schema.json', import.meta.url);
  const path = relative(dirname(file), fileURLToPath(schema));
  // Spaces would end the address.
  return path.startsWith('..') || isAbsolute(path) ? schema.href : encodeURI(`./${path}`);
}

/**
 * Team names are unique on the machine. So the name is what the project calls itself, else its folder's, with the
 * file's unless that is `troupe`.
 */
function nameFor(path: string, { template, project: { name } }: { template: TemplateName; project: Project }): string {
  const file = basename(path, extname(path));
  // A name without a valid letter or digit would leave nothing.
  const names = [name ?? '', basename(dirname(path)), template];
  const project = names.find((one) => /[a-z0-9]/i.test(one.normalize('NFKD'))) ?? template;
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
  if (template === 'project') {
    return '. No agent is on the PATH: until you install one (troupe agents says how), its members are programs that change nothing. Read it';
  }
  return '. No agent is on the PATH: it is for claude until you install one (troupe agents says how) or write other names. Read it';
}

/** What the file was made from, and what is still missing. */
function whatIsSeen(project: Project, agents: readonly FoundAgent[]): string {
  const { check, setup, source, missing } = project;
  const without = agents.find(({ loginState }) => loginState === 'none');
  return [
    check === undefined
      ? 'No test command was found: the file says where to name yours.'
      : missing !== undefined
        ? `${lacks(project)}So the file has no gate yet, and says how to give it one.`
        : `Every task is judged by ${check} (${source})${setup === undefined ? '' : `, after ${setup} in each copy`}.`,
    without ? `${without.name} is not logged in${without.loginCommand ? `: ${without.loginCommand}` : ''}.` : undefined,
  ]
    .filter((text) => text !== undefined)
    .map((text) => `${text}\n`)
    .join('');
}

/** That the tests cannot run here. */
function lacks({ check, source, missing }: Project): string {
  return missing === undefined ? '' : `The tests run with ${check} (${source}), but ${wordMissing(missing)}.\n`;
}

type Agents = ResultOf<'agent.list'>;

/** The named agents, else all installed ones. A variant such as `codex-acp` is left out if its agent is installed. */
async function chooseAgents(
  wanted: readonly string[] | undefined,
  { environment, signal }: Surroundings,
): Promise<FoundAgent[]> {
  const client = openClient(environment);
  try {
    const known = await client.call('agent.list', { quick: true }, { signal });
    return wanted ? requireKnown(wanted, known) : known.filter(isHere);
  } finally {
    client.close();
  }
}

function isHere({ path, name }: Agents[number], _index: number, all: Agents): boolean {
  const own = all.find((other) => other.name !== name && name.startsWith(`${other.name}-`));
  return path !== undefined && own?.path === undefined;
}

/** Agents with a login first. Those that have none are left out, unless all have none: the file should work as it is. */
function withLogin(agents: readonly FoundAgent[]): readonly FoundAgent[] {
  const of = (state: FoundAgent['loginState']): FoundAgent[] =>
    agents.filter(({ loginState = 'unknown' }) => loginState === state);
  const usable = [...of('found'), ...of('unknown')];
  return usable.length > 0 ? usable : agents;
}

function requireKnown(wanted: readonly string[], known: Agents): FoundAgent[] {
  const names = known.filter(({ program }) => program !== '').map(({ name }) => name);
  const stranger = wanted.find((name) => !names.includes(name));
  if (stranger === undefined) return wanted.flatMap((name) => known.find((one) => one.name === name) ?? []);
  throw new Refusal('invalid', `There is no agent named ${stranger}: choose one of ${names.join(', ')}`);
}

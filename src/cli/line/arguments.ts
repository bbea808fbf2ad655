import { resolve } from 'node:path';
import { otherTeamOf } from '../../core/address.ts';
import { findNearest } from '../../core/nearest.ts';
import { parseTime } from '../../core/typed-time.ts';
import { UsageError } from '../show/errors.ts';
import { readTaskId } from '../show/words.ts';
import type { Arguments, Candidates, Command, Input } from './command.ts';
import { COMMON_FLAGS, flagsOf, hasField, mayBeLeftOut } from './inputs.ts';
import { explainExtra, explainMissing, onlyTeam, requireChange, shownName, unknownFlag, whichTeam } from './misuse.ts';

/** What is known besides the words. */
export interface Known {
  readonly environment: NodeJS.ProcessEnv;
  /** Finds the teams that a command may be about. Called if it needs a team and the words name none. */
  readonly findTeams: (command: Command, as: string | undefined) => Promise<Candidates>;
}

/** Parses the words after a command's name. Throws a `UsageError`. */
export async function readArguments(
  command: Command,
  words: readonly string[],
  { environment, findTeams }: Known,
): Promise<Arguments> {
  const given = split(command, words);
  const stdin = await readStandardInput(command, given);
  const fields: Record<string, unknown> = {};
  for (const [place, value] of given) {
    const isText = value === '-' && !place.isPath && stdin !== undefined;
    fields[place.field] = toValue(place, isText ? stdin : value, command);
  }
  addFolder(fields, command);
  addDefaults(fields, command, environment);
  const { as: member, json, help: _help, ...input } = fields;
  const as = member as string | undefined;
  let missing = findMissing(command.args, input) ?? findMissing(command.flags, input);
  if (missing?.field === 'teamId') {
    if (!mayBeLeftOut(command)) throw whichTeam(await findTeams(command, as), command, words);
    input['teamId'] = addressedTeam(input, as, environment) ?? onlyTeam(await findTeams(command, as), command, words);
    missing = findMissing(command.flags, input);
  }
  if (missing) throw await explainMissing(command, missing);
  requireChange(command, input);
  return { input, as, json: json === true };
}

/** Whether the words contain a flag such as --json or --help, even if the rest cannot be parsed. */
export function hasFlag(words: readonly string[], ...flags: readonly string[]): boolean {
  if (!flags.some((flag) => words.includes(flag))) return false;
  const end = words.indexOf('--');
  return words.slice(0, end === -1 ? undefined : end).some((word) => flags.includes(word));
}

/**
 * Separates flags from arguments. Hand-written, because `parseArgs` refuses text that starts with a dash ("- first
 * this"). It also takes 1.3 ms, and a command may take only 10 ms longer than an empty program.
 */
function split(command: Command, words: readonly string[]): Given {
  // A command without a result accepts --json too: then its errors are JSON.
  const flags = [...flagsOf(command), ...COMMON_FLAGS];
  const places: string[] = [];
  const values: Given = new Map();
  const fail = (problem: string): never => {
    throw new UsageError(problem, command.words);
  };
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') {
      places.push(...words.slice(at + 1));
      break;
    }
    if (!isFlag(word)) {
      places.push(word);
      continue;
    }
    const equals = word.indexOf('=');
    const name = equals === -1 ? word : word.slice(0, equals);
    const inline = equals === -1 ? undefined : word.slice(equals + 1);
    const flag = flags.find((one) => name === `--${one.name}` || (one.short !== undefined && name === `-${one.short}`));
    const denied = flag ?? flags.find((one) => one.type === 'boolean' && name === `--no-${one.name}`);
    if (!denied) return fail(unknownFlag(name, flags, command));
    if (!flag) {
      if (inline !== undefined) return fail(`${name} takes no value`);
      values.set(denied, false);
      continue;
    }
    if (flag.type === 'boolean') {
      if (inline !== undefined && inline !== 'true' && inline !== 'false') return fail(`${name} takes no value`);
      values.set(flag, inline !== 'false');
      continue;
    }
    const value = inline ?? words[++at];
    if (value === undefined) return fail(`${name} needs a value`);
    // In `--result --json` the value is missing. Other text may start with dashes.
    if (inline === undefined && isFlag(value) && flags.some((one) => value.split('=')[0] === `--${one.name}`)) {
      return fail(`${name} needs a value; for the text ${value} write ${name}=${value}`);
    }
    const before = values.get(flag);
    const isMany = flag.type === 'list' || flag.type === 'texts';
    if (isMany) values.set(flag, [...(typeof before === 'object' ? before : []), value]);
    else if (before !== undefined) return fail(`${name} is given twice`);
    else values.set(flag, value);
  }
  assignPlaces(command, places, values);
  return values;
}

/** The given value of each argument and flag. */
type Given = Map<Input, string | readonly string[] | boolean>;

/** A flag has a letter after its dashes, and no space before its value. No regular expression, because V8 takes longer
 *  to compile one than to run all of this. */
function isFlag(word: string): boolean {
  if (!word.startsWith('-')) return false;
  const first = word.charCodeAt(word.startsWith('--') ? 2 : 1) | 0x20;
  if (!(first >= 0x61 && first <= 0x7a)) return false;
  for (let at = 2; at < word.length; at++) {
    const unit = word.charCodeAt(at);
    if (unit === EQUALS) return true;
    if (unit <= SPACE) return false;
  }
  return true;
}

const SPACE = 0x20;
const EQUALS = 0x3d;

/** If the last argument is a list, it takes all remaining words. */
function assignPlaces(command: Command, places: readonly string[], given: Given): void {
  const { args } = command;
  const last = args.at(-1)?.type;
  const takesRest = last === 'list' || last === 'words';
  if (places.length > args.length && !takesRest) {
    const hasTeam = given.keys().some(({ field }) => field === 'teamId');
    throw new UsageError(explainExtra(command, places[args.length] ?? '', { hasTeam }), command.words);
  }
  for (let at = 0; at < Math.min(args.length, places.length); at++) {
    const input = args[at];
    if (input) given.set(input, takesRest && at === args.length - 1 ? places.slice(at) : (places[at] ?? ''));
  }
}

/** A new team works in the folder where it is created; a hook runs where it is registered, unless `cwd` is given. */
function addFolder(input: Record<string, unknown>, { operation }: Command): void {
  if (operation === 'team.create' || operation === 'hook.register') input['cwd'] ??= process.cwd();
}

/** A person writes to any team directly: `bea@beta` names it. A member writes from its own. */
function addressedTeam(
  { toId }: Readonly<Record<string, unknown>>,
  as: string | undefined,
  environment: NodeJS.ProcessEnv,
): string | undefined {
  const isMember = as !== undefined || environment['TROUPE_TOKEN'] || environment['TROUPE_TOKEN_FILE'];
  return typeof toId === 'string' && !isMember ? otherTeamOf(toId) : undefined;
}

/** Takes the team and the member from the environment. */
function addDefaults(input: Record<string, unknown>, command: Command, environment: NodeJS.ProcessEnv): void {
  if (!hasField(command.flags, 'teamId') && !hasField(command.args, 'teamId')) return;
  if (input['teamId'] === undefined && mayBeLeftOut(command)) {
    const team = environment['TROUPE_TEAM_ID'] || environment['TROUPE_TEAM'];
    if (team) input['teamId'] = team;
  }
  // A member's own credential says which member it is.
  if (input['as'] !== undefined || environment['TROUPE_TOKEN'] || environment['TROUPE_TOKEN_FILE']) return;
  const name = environment['TROUPE_MEMBER_NAME'];
  if (name) input['as'] = name;
}

/** Fields that hold task ids: people write `#3`, operations expect `3`. */
const TASK_FIELDS: readonly string[] = ['taskId', 'dependencies', 'addDependencies', 'addDependents'];

const AN_AGENT = 'must be a name such as codex, or JSON such as {"exec":"./work.sh"}';

/** Fields that take a word instead of JSON, and what to say about anything else. */
const WORD_OR_JSON: Readonly<Record<string, string>> = {
  agent: AN_AGENT,
  leadAgent: AN_AGENT,
  onLimit: 'must be wait, ask, or JSON such as {"fallback":["codex"]}',
};

function toValue(input: Input, value: string | readonly string[] | boolean, command: Command): unknown {
  if (typeof value === 'boolean') return value;
  const isTask = TASK_FIELDS.includes(input.field) || (input.field === 'after' && input.type === 'string');
  if (isTask && typeof value === 'string' && input.type === 'string') return readTaskId(value);
  // The daemon has another working directory.
  if (['cwd', 'folder'].includes(input.field) && typeof value === 'string') return resolve(value);
  if (input.type === 'string' && !input.values && !input.nullable) return value;
  const fail = (problem: string): never => {
    throw new UsageError(`${shownName(input, command)} ${problem}`, command.words);
  };
  const parts = typeof value === 'string' ? [value] : value;
  if (input.type === 'texts') return parts;
  if (input.type === 'list') {
    const empty = parts.find((one) => one.includes(',') && one.split(',').includes(''));
    if (empty !== undefined) return fail(`has nothing between two commas, or at an end: ${JSON.stringify(empty)}`);
    const list = parts.flatMap((one) => one.split(',')).filter((one) => one !== '');
    return isTask ? list.map(readTaskId) : list;
  }
  if (typeof value !== 'string') return value;
  if (input.nullable && value === 'none') return null;
  if (input.values && !input.values.includes(value)) {
    // Tables show `in progress`; operations call it in_progress.
    const named = value.replace(/[ -]/g, '_');
    if (input.values.includes(named)) return named;
    const nearest = findNearest(value, input.values);
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    return fail(`must be one of ${input.values.join(', ')}, not ${JSON.stringify(value)}${hint}`);
  }
  switch (input.type) {
    case 'number': {
      const number = Number(value);
      const isNumber = value.trim() !== '' && !Number.isNaN(number);
      if (!isNumber) return fail(`must be a number, not ${JSON.stringify(value)}`);
      // An operation checks its own numbers. Numbers that only the command line uses are counts.
      const isCount = Number.isInteger(number) && number >= 0;
      if (!command.operation && !isCount) return fail(`must be a whole number from 0 on, not ${JSON.stringify(value)}`);
      return number;
    }
    case 'duration':
      // Programs count in milliseconds; who types 3 means seconds or minutes.
      if (/^0*[1-9]\d*$/.test(value)) return fail(needsUnit(value));
      return parseTime(value) ?? fail(`must be a time such as 30s or 5m, not ${JSON.stringify(value)}`);
    case 'time': {
      // `Date.parse` takes 5 for the month May. Four digits are a year.
      if (/^\d{1,3}$/.test(value)) return fail(needsUnit(value));
      const ago = /^\d+$/.test(value) ? undefined : parseTime(value);
      const at = ago === undefined ? Date.parse(value) : Date.now() - ago;
      if (!Number.isNaN(at)) return new Date(at).toISOString();
      return fail(`must be a time such as 10m or 2026-01-31T12:00:00Z, not ${JSON.stringify(value)}`);
    }
    case 'json':
      if (Object.hasOwn(WORD_OR_JSON, input.field) && /^[\w-]+$/.test(value)) return value;
      try {
        return JSON.parse(value) as unknown;
      } catch (error) {
        return fail(`${WORD_OR_JSON[input.field] ?? 'must be JSON'}: ${(error as Error).message}`);
      }
    default:
      return value;
  }
}

function needsUnit(value: string): string {
  return `needs a unit: ${value}s, ${value}m or ${value}h`;
}

function findMissing(inputs: readonly Input[], given: Readonly<Record<string, unknown>>): Input | undefined {
  for (const input of inputs) if (input.required && given[input.field] === undefined) return input;
  return undefined;
}

/** Reads standard input if one argument is `-`. */
async function readStandardInput(command: Command, given: Given): Promise<string | undefined> {
  let asked = 0;
  for (const [place, value] of given) if (value === '-' && !place.isPath) asked++;
  if (asked === 0) return undefined;
  if (asked > 1) {
    throw new UsageError('Only one text can come from standard input', command.words);
  }
  let text = '';
  process.stdin.setEncoding('utf8');
  for await (const chunk of process.stdin) text += chunk as string;
  // `echo text |` and a here-document add a newline that is not part of the text.
  return text.replace(/\r?\n$/, '');
}

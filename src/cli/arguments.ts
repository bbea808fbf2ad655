import type { Command, Input } from './command.ts';
import { UsageError } from './errors.ts';
import { findNearest } from './nearest.ts';
import { parseDuration } from './time.ts';

/** What a command line says. */
export interface Arguments {
  /** What goes to the operation, by field. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The member that a person speaks for. */
  readonly as: string | undefined;
  readonly json: boolean;
}

/** The flags that every command has. */
export const COMMON_FLAGS: readonly Input[] = [
  { field: 'json', name: 'json', type: 'boolean', text: 'print the result as JSON' },
  { field: 'help', name: 'help', type: 'boolean', text: 'print this help', short: 'h' },
];

/** The flag of every command that is about a team. */
export const AS_FLAG: Input = {
  field: 'as',
  name: 'as',
  type: 'string',
  text: 'the member you speak for (default: $TROUPE_MEMBER_NAME)',
};

/** All flags of a command, in the order in which its help shows them. */
export function flagsOf(command: Command): Input[] {
  const isAboutTeam = [...command.args, ...command.flags].some(({ field }) => field === 'teamId');
  const team = isAboutTeam && command.args.some(({ field }) => field === 'teamId') ? [TEAM_FLAG] : [];
  return [...command.flags, ...team, ...(isAboutTeam ? [AS_FLAG] : []), ...COMMON_FLAGS];
}

/** `troupe team show --team demo` is what a habit writes for `troupe team show demo`. */
const TEAM_FLAG: Input = { field: 'teamId', name: 'team', type: 'string', text: 'the team, as a flag' };

/** Reads the words after a command's name. Throws a `UsageError`. */
export async function readArguments(
  command: Command,
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Arguments> {
  const { values, places } = split(command, words);
  const given: [Input, string | readonly string[] | boolean][] = [
    ...[...values].map(([flag, value]) => [flag, value] as [Input, string | string[] | boolean]),
    ...assignPlaces(command, places),
  ];
  const fields: Record<string, unknown> = defaultsOf(command, environment);
  const stdin = new StandardInput(command.words);
  for (const [input, value] of given) fields[input.field] = await toValue(input, value, { command, stdin });
  const { as, json, help: _help, ...input } = fields;
  requireAll(command, input);
  return { input, as: as as string | undefined, json: json === true };
}

/** Whether the words ask for JSON, or for help, even if nothing else in them can be understood. */
export function hasFlag(words: readonly string[], ...flags: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end === -1 ? undefined : end).some((word) => flags.includes(word));
}

/**
 * Tells flags from arguments. By hand, because text may start with a dash ("- first this"), which `parseArgs` refuses,
 * and because a command may take 10 ms longer than an empty program, of which `parseArgs` takes 1.3.
 */
function split(command: Command, words: readonly string[]) {
  const flags = flagsOf(command);
  const places: string[] = [];
  const values = new Map<Input, string | string[] | boolean>();
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
    const [, name = '', inline] = /^([^=]+)(?:=([^]*))?$/.exec(word) ?? [];
    const flag = flags.find((one) => name === `--${one.name}` || (one.short !== undefined && name === `-${one.short}`));
    const denied = flag ?? flags.find((one) => one.type === 'boolean' && name === `--no-${one.name}`);
    if (!denied) return fail(unknownFlag(name, flags));
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
    // `--result --json` forgot the result; a text that happens to start with dashes did not.
    if (inline === undefined && isFlag(value) && flags.some((one) => value.split('=')[0] === `--${one.name}`)) {
      return fail(`${name} needs a value; for the text ${value} write ${name}=${value}`);
    }
    const before = values.get(flag);
    if (flag.type === 'list') values.set(flag, [...(Array.isArray(before) ? before : []), value]);
    else if (before !== undefined) return fail(`${name} is given twice`);
    else values.set(flag, value);
  }
  return { values, places };
}

/** No flag has anything but letters after its dashes, or a space before its value. */
function isFlag(word: string): boolean {
  return /^--?[a-zA-Z][^\s=]*(=|$)/.test(word);
}

function unknownFlag(rawName: string, flags: readonly Input[]): string {
  const nearest = findNearest(
    rawName.replace(/^-+/, ''),
    flags.map(({ name }) => name),
  );
  return `There is no flag ${rawName}${nearest === undefined ? '' : `; did you mean --${nearest}?`}`;
}

/** The last argument takes all that is left if it is a list. */
function assignPlaces(command: Command, places: readonly string[]): [Input, string | readonly string[]][] {
  const { args } = command;
  const last = args.at(-1);
  const takesRest = last?.type === 'list';
  if (places.length > args.length && !takesRest) {
    const extra = places[args.length] ?? '';
    const hint = args.length === 0 ? '' : '; put a text with spaces in quotes';
    throw new UsageError(`${JSON.stringify(extra)} is one argument too many${hint}`, command.words);
  }
  return args
    .slice(0, places.length)
    .map((input, at) => [input, takesRest && input === last ? places.slice(at) : (places[at] ?? '')]);
}

/** What the surroundings say of team and member. A team that is about to change for good is named each time. */
function defaultsOf(command: Command, environment: NodeJS.ProcessEnv): Record<string, unknown> {
  const team = environment['TROUPE_TEAM_ID'] || environment['TROUPE_TEAM'];
  const isFlag = command.flags.some(({ field }) => field === 'teamId');
  const isPlace = command.args.some(({ field }) => field === 'teamId');
  const reads = command.scope === 'reader' || command.operation === undefined;
  // A member's own credential says who it is.
  const isMember = environment['TROUPE_TOKEN'] || environment['TROUPE_TOKEN_FILE'];
  const as = isMember ? undefined : environment['TROUPE_MEMBER_NAME'];
  return {
    ...(team && (isFlag || (isPlace && reads)) && { teamId: team }),
    ...(as && (isFlag || isPlace) && { as }),
  };
}

async function toValue(
  input: Input,
  value: string | readonly string[] | boolean,
  { command, stdin }: { command: Command; stdin: StandardInput },
): Promise<unknown> {
  if (typeof value === 'boolean') return value;
  const fail = (problem: string): never => {
    throw new UsageError(`${input.name} ${problem}`, command.words);
  };
  if (typeof value !== 'string') return value.flatMap((one) => one.split(',')).filter((one) => one !== '');
  if (input.nullable && value === 'none') return null;
  if (input.values && !input.values.includes(value)) {
    const nearest = findNearest(value, input.values);
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    return fail(`must be one of ${input.values.join(', ')}, not ${JSON.stringify(value)}${hint}`);
  }
  switch (input.type) {
    case 'number': {
      const number = Number(value);
      return value.trim() === '' || Number.isNaN(number)
        ? fail(`must be a number, not ${JSON.stringify(value)}`)
        : number;
    }
    case 'duration':
      return parseDuration(value) ?? fail(`must be a time such as 30s or 5m, not ${JSON.stringify(value)}`);
    case 'time': {
      const ago = /^\d+$/.test(value) ? undefined : parseDuration(value);
      const at = ago === undefined ? Date.parse(value) : Date.now() - ago;
      if (!Number.isNaN(at)) return new Date(at).toISOString();
      return fail(`must be a time such as 10m or 2026-01-31T12:00:00Z, not ${JSON.stringify(value)}`);
    }
    case 'list':
      return value.split(',').filter((one) => one !== '');
    case 'json': {
      const text = value === '-' ? await stdin.read() : value;
      try {
        return JSON.parse(text) as unknown;
      } catch (error) {
        return fail(`must be JSON: ${(error as Error).message}`);
      }
    }
    default:
      return value === '-' ? stdin.read() : value;
  }
}

function requireAll(command: Command, input: Readonly<Record<string, unknown>>): void {
  const missing = [...command.args, ...command.flags].find(
    ({ required, field }) => required && input[field] === undefined,
  );
  if (!missing) return;
  if (missing.field === 'teamId') throw new UsageError(whichTeam(command), command.words);
  const name = command.args.includes(missing) ? `<${missing.name}>` : `--${missing.name}`;
  throw new UsageError(`${name} is missing: ${missing.text}`, command.words);
}

function whichTeam(command: Command): string {
  if (command.args.some(({ field }) => field === 'teamId')) return `Say which team: troupe ${command.words} NAME`;
  return 'Say which team: add --team NAME, or set TROUPE_TEAM';
}

/** Standard input, which one argument may ask for with `-`. */
class StandardInput {
  readonly #command: string;
  #taken = false;

  constructor(command: string) {
    this.#command = command;
  }

  async read(): Promise<string> {
    if (this.#taken) throw new UsageError('Only one text can come from standard input', this.#command);
    this.#taken = true;
    let text = '';
    process.stdin.setEncoding('utf8');
    for await (const chunk of process.stdin) text += chunk as string;
    // `echo text |` and a here-document add a newline that nobody meant.
    return text.replace(/\r?\n$/, '');
  }
}

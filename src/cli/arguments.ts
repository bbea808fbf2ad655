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
  const given = split(command, words);
  const input = defaultsOf(command, environment);
  const stdin = [...given.values()].some((value) => value === '-')
    ? await readStandardInput(command, given)
    : undefined;
  for (const [place, value] of given) {
    input[place.field] = toValue(place, value === '-' ? (stdin ?? value) : value, command);
  }
  const as = input['as'] as string | undefined;
  const json = input['json'] === true;
  for (const field of ['as', 'json', 'help']) delete input[field];
  const missing = [...command.args, ...command.flags].find(
    ({ required, field }) => required && input[field] === undefined,
  );
  if (missing) throw await explainMissing(command, missing);
  return { input, as, json };
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
function split(command: Command, words: readonly string[]): Given {
  const flags = flagsOf(command);
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
    if (flag.type === 'list') values.set(flag, [...(typeof before === 'object' ? before : []), value]);
    else if (before !== undefined) return fail(`${name} is given twice`);
    else values.set(flag, value);
  }
  assignPlaces(command, places, values);
  return values;
}

/** What was said for each argument and flag. */
type Given = Map<Input, string | readonly string[] | boolean>;

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
function assignPlaces({ args, words }: Command, places: readonly string[], given: Given): void {
  const takesRest = args.at(-1)?.type === 'list';
  if (places.length > args.length && !takesRest) {
    const extra = places[args.length] ?? '';
    const hint = args.length === 0 ? '' : '; put a text with spaces in quotes';
    throw new UsageError(`${JSON.stringify(extra)} is one argument too many${hint}`, words);
  }
  for (let at = 0; at < Math.min(args.length, places.length); at++) {
    const input = args[at];
    if (input) given.set(input, takesRest && at === args.length - 1 ? places.slice(at) : (places[at] ?? ''));
  }
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

function toValue(input: Input, value: string | readonly string[] | boolean, command: Command): unknown {
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
    case 'json':
      try {
        return JSON.parse(value) as unknown;
      } catch (error) {
        return fail(`must be JSON: ${(error as Error).message}`);
      }
    default:
      return value;
  }
}

async function explainMissing(command: Command, missing: Input): Promise<UsageError> {
  if (missing.field === 'teamId') return new UsageError(whichTeam(command), command.words);
  const name = command.args.includes(missing) ? `<${missing.name}>` : `--${missing.name}`;
  const { describeInput } = await import('./described.ts');
  return new UsageError(`${name} is missing: ${describeInput(command, missing).text}`, command.words);
}

function whichTeam(command: Command): string {
  if (command.args.some(({ field }) => field === 'teamId')) return `Say which team: troupe ${command.words} NAME`;
  return 'Say which team: add --team NAME, or set TROUPE_TEAM';
}

/** Standard input, which one argument may ask for with `-`. */
async function readStandardInput(command: Command, given: Given): Promise<string> {
  if ([...given.values()].filter((value) => value === '-').length > 1) {
    throw new UsageError('Only one text can come from standard input', command.words);
  }
  let text = '';
  process.stdin.setEncoding('utf8');
  for await (const chunk of process.stdin) text += chunk as string;
  // `echo text |` and a here-document add a newline that nobody meant.
  return text.replace(/\r?\n$/, '');
}

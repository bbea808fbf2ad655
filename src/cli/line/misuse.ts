import { findNearest } from '../../core/nearest.ts';
import { shellWord } from '../../core/shell.ts';
import { UsageError } from '../show/errors.ts';
import type { Candidates, Command, Input } from './command.ts';

/** An argument or a flag, as help shows it. */
export function shownName(input: Input, command: Command): string {
  return command.args.includes(input) ? `<${input.name}>` : `--${input.name}`;
}

/** The message for an unknown flag, with the one that was probably meant. */
export function unknownFlag(rawName: string, flags: readonly Input[], { words }: Command): string {
  if (words === 'approve' && rawName === '--yes') {
    return 'There is no flag --yes: without --deny, the answer is yes';
  }
  const nearest = findNearest(
    rawName.replace(/^-+/, ''),
    flags.map(({ name }) => name),
  );
  return `There is no flag ${rawName}${nearest === undefined ? '' : `; did you mean --${nearest}?`}`;
}

/** The message for a word that no argument takes. */
export function explainExtra(command: Command, extra: string, { hasTeam }: { hasTeam: boolean }): string {
  if (command.words === 'stop' && extra === 'all') {
    return '"all" is one argument too many; to kill everything: troupe stop --all';
  }
  const hint = command.args.length === 0 ? hintName(command, extra, hasTeam) : '; put a text with spaces in quotes';
  return `${JSON.stringify(extra)} is one argument too many${hint}`;
}

/** An extra word is most often the name of a team, or of a member of the named team. */
function hintName({ words, flags }: Command, extra: string, hasTeam: boolean): string {
  if (!isSlug(extra)) return '';
  if (flags.some(({ field }) => field === 'teamId')) {
    const of = flags.find(({ field }) => field === 'memberId')?.name;
    const ways = [
      ...(hasTeam ? [] : [`a team is named with --team ${extra}`]),
      ...(of === undefined ? [] : [`a member is named with --${of} ${extra}`]),
    ];
    return ways.map((way) => `; ${way}`).join('');
  }
  return words === 'status' ? `; of a team it is troupe team status ${extra}` : '';
}

function isSlug(word: string): boolean {
  return /^[a-z0-9][a-z0-9_-]*$/.test(word);
}

/** The error for a required argument or flag that is missing. */
export async function explainMissing(command: Command, missing: Input): Promise<UsageError> {
  const name = shownName(missing, command);
  const { describeInput } = await import('./described.ts');
  // A shell takes an unquoted #1 for a comment and passes nothing.
  const hint =
    missing.field === 'taskId' ? ", such as 1 or '#1'" : missing.values ? `: ${missing.values.join(', ')}` : '';
  return new UsageError(`${name} is missing: ${describeInput(command, missing).text}${hint}`, command.words);
}

/** How many names a message lists. */
const FEW = 8;

/** The only team that a command without a team can be about. Refuses to guess between several. */
export function onlyTeam(found: Candidates, command: Command, words: readonly string[]): string {
  const [only, ...others] = found.names;
  if (only !== undefined && others.length === 0) return only;
  throw whichTeam(found, command, words);
}

/** The error that asks for a team: it names those that may be meant, and the same command with one of them. */
export function whichTeam({ names, areHere }: Candidates, command: Command, words: readonly string[]): UsageError {
  const isPlace = command.args.some(({ field }) => field === 'teamId');
  const how = isPlace ? `troupe ${command.words} NAME` : 'add --team NAME';
  const [first] = names;
  if (first === undefined) {
    const say = `No team is open: troupe up starts one. For a closed one: ${how}; troupe teams lists them`;
    return new UsageError(say, command.words);
  }
  if (names.length > FEW) {
    return new UsageError(`Say which team of ${names.length}: ${how}; troupe teams lists them`, command.words);
  }
  const there = areHere
    ? `in this folder there is ${names.join(', ')}`
    : `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} open`;
  const typed = words.map(shellWord).join(' ');
  const rest = typed.length > LONG || typed.includes('\n') ? '...' : typed;
  const again = ['troupe', command.words, ...(isPlace ? [first] : ['--team', first]), rest].join(' ').trimEnd();
  return new UsageError(`Say which team; ${there}. Such as: ${again}`, command.words);
}

/** From this length on, what was typed is not repeated. */
const LONG = 60;

/** Fields that select a thing or set a condition, and change nothing. */
const CONDITIONS: readonly string[] = ['teamId', 'epoch', 'revision'];

/** Refuses an update that changes nothing: it is a mistake, and would be reported as a change. */
export function requireChange(command: Command, input: Readonly<Record<string, unknown>>): void {
  const { words, args, flags } = command;
  if (!words.endsWith(' update')) return;
  const changes = [...args, ...flags].filter(({ field, required }) => !required && !CONDITIONS.includes(field));
  if (changes.some(({ field }) => input[field] !== undefined)) return;
  const names = changes.map((one) => shownName(one, command));
  throw new UsageError(`Say what to change: ${names.join(', ')}`, words);
}

import { CallError } from '../../../client/errors.ts';
import { findHome } from '../../../client/home.ts';
import { wordError } from '../../../core/error-words.ts';
import type { Naming } from '../../../core/error-words.ts';
import { findNearest } from '../../../core/nearest.ts';
import type { Command } from '../../line/command.ts';
import { flagsOf } from '../../line/inputs.ts';
import { isOpenToOthers } from '../../reach/credential.ts';

/** How many names a message lists. */
const FEW = 8;

/** Commands that end a team. */
const ENDS = ['down', 'team close', 'team delete'];

/** Replaces an error with one whose message helps most: which team was meant, which credential is wrong. */
export async function explainError(error: unknown, command: Command, teamId: unknown): Promise<unknown> {
  if (!(error instanceof CallError)) return error;
  if (error.code === 'unauthenticated') return new CallError(error.code, explainCredential(process.env));
  const said = wordError(error, namingFor(command, teamId));
  const own = new CallError(error.code, `${said}${await hintJson(error, command)}`, error.facts);
  return error.code === 'not_found' ? explainUnknownTeam(own, command, teamId) : own;
}

/** Replaces the input names that all faces share with the arguments and flags of this command. */
function namingFor(command: Command, teamId: unknown): Naming {
  const flags = new Map(flagsOf(command).map(({ field, name }) => [field, `--${name}`]));
  const names = new Map([...flags, ...command.args.map(({ field, name }) => [field, `<${name}>`] as const)]);
  const team = typeof teamId === 'string' ? ` --team ${teamId}` : '';
  // Who is not named is the caller.
  const mayBeNamed = command.args.some(({ field, required }) => field === 'memberId' && !required);
  return {
    field: (name) => names.get(name) ?? name,
    speaker: mayBeNamed ? `name one: troupe ${command.words} MEMBER${team}` : 'pass --as MEMBER',
    list: (noun) => `troupe ${noun} list${team} shows which exist`,
    option: ({ field, effect }) => (flags.has(field) ? `${effect} (${flags.get(field)})` : undefined),
  };
}

/** Points to the help of an input that takes JSON: it has an example. */
async function hintJson({ facts }: CallError, command: Command): Promise<string> {
  const wrong = new Set(facts?.problems?.map(({ field }) => field.split('.', 1)[0]));
  const input = flagsOf(command).find(({ field, type }) => type === 'json' && wrong.has(field));
  if (!input) return '';
  const { text } = (await import('../../line/described.ts')).describeInput(command, input);
  return text.includes('{') ? `; --${input.name} is ${text}` : '';
}

function explainCredential(environment: NodeJS.ProcessEnv): string {
  const renew = 'make a new one with troupe member token NAME --team TEAM, or unset it to act as yourself';
  if (environment['TROUPE_TOKEN']) return `The daemon does not know the credential in TROUPE_TOKEN: ${renew}`;
  const file = environment['TROUPE_TOKEN_FILE'];
  if (file) return `The daemon does not know the credential in ${file} (TROUPE_TOKEN_FILE): ${renew}`;
  const { tokenFile } = findHome(environment);
  if (isOpenToOthers(tokenFile)) {
    return `Others can read ${tokenFile}, so it is not used: troupe doctor --fix closes it`;
  }
  return `${tokenFile} does not hold the token of the running daemon: troupe doctor shows its process; end it with kill, and the next command starts it with a new token`;
}

/** Adds the team that was probably meant to an error about an unknown team; leaves other errors as they are. */
async function explainUnknownTeam(error: CallError, { words }: Command, teamId: unknown): Promise<CallError> {
  if (typeof teamId !== 'string') return error;
  const names = await listTeams();
  if (!names || names.includes(teamId)) return error;
  const hint = names.length === 0 ? hintFirst(words) : hintKnown(teamId, names);
  return new CallError('not_found', `There is no team ${JSON.stringify(teamId)}; ${hint}`);
}

/** Nobody makes a team to end it. */
function hintFirst(words: string): string {
  if (ENDS.includes(words)) return 'there is none at all';
  return 'there is none yet: troupe team create NAME makes one, troupe up makes one from a team file';
}

function hintKnown(teamId: string, names: readonly string[]): string {
  const nearest = findNearest(teamId, names);
  if (nearest !== undefined) return `did you mean ${nearest}? troupe teams lists them all`;
  return names.length <= FEW ? `there is ${names.join(', ')}` : 'troupe teams lists them';
}

/** Undefined for a member, which may not see other teams. */
async function listTeams(): Promise<string[] | undefined> {
  const { openClient } = await import('../../reach/connect.ts');
  const client = openClient(process.env, { start: false });
  try {
    const teams = await client.call('team.list', {}, { signal: AbortSignal.timeout(2_000) });
    return teams.map(({ name }) => name);
  } catch {
    return undefined;
  } finally {
    client.close();
  }
}

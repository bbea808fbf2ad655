import { findHome } from '../../../client/home.ts';
import { connectOnce } from '../../../client/once.ts';
import { readOn } from '../../../client/read-on.ts';
import type { InputOf, OperationName, ResultOf } from '../../../operations/index.ts';
import { findPlace, kindOf } from '../../line/completion/place.ts';
import type { Kind } from '../../line/completion/place.ts';
import type { Word } from '../../line/completion/words.ts';
import { findCommand } from '../../line/find.ts';
import { readCredential } from '../../reach/credential.ts';
import { namesOfOpen } from '../../reach/open-teams.ts';
import { clean } from '../../show/text.ts';
import { print } from '../../show/write.ts';
import { COMMANDS } from '../table.ts';

/** Somebody waits at the keyboard: what takes longer than this is not offered. */
const PATIENCE_MS = 800;

/** No team has more tasks. */
const MOST_TASKS = 10_000;

/** A shell takes what we print for words. Names and ids are nothing else, whoever made them. */
const PLAIN = /^[A-Za-z0-9][\w.:@-]*$/;

/**
 * Writes what can stand where a command line ends, for the shells: a word a line, and after a tab what it means. Asks the
 * daemon that runs; where there is none, or it does not answer soon, there is nothing to offer. `words` are all after
 * `troupe`, the last one as far as it was typed.
 */
export async function printValues(words: readonly string[]): Promise<number> {
  const found = findCommand(COMMANDS, words.slice(0, -1));
  if (!found) return 0;
  const place = findPlace(found.command, [...found.rest, words.at(-1) ?? '']);
  const { input, typed, team = process.env['TROUPE_TEAM_ID'] || process.env['TROUPE_TEAM'] } = place;
  const kind = input && kindOf(input);
  if (!kind) return 0;
  // Of a list only the last part is still to be found: 1,2,3.
  const before = input.type === 'list' ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const offered = await Promise.race([
    list(kind, { team, command: found.command.words }).catch(() => []),
    new Promise<Word[]>((resolve) => setTimeout(resolve, PATIENCE_MS, [])),
  ]);
  const lines = offered
    .filter(({ word }) => PLAIN.test(word))
    .map(({ word, text }) => ({ word: before + word, text: clean(text).replace(/\s+/g, ' ').trim() }))
    .filter(({ word }) => word.startsWith(typed))
    .map(({ word, text }) => `${word}\t${text}\n`);
  print(lines.join(''));
  return 0;
}

interface About {
  readonly team: string | undefined;
  readonly command: string;
}

async function list(kind: Kind, { team, command }: About): Promise<Word[]> {
  if (kind === 'team') {
    const teams = await ask('team.list', {});
    return teams.map(({ name, status, description }) => ({ word: name, text: description || status }));
  }
  if (kind === 'agent') {
    const agents = await ask('agent.list', { quick: true });
    // Those without a program of their own are the user's to write down, as JSON.
    const named = agents.filter(({ program }) => program !== '');
    return named.map(({ name, title, path }) => ({
      word: name,
      text: path === undefined ? `${title}, not here` : title,
    }));
  }
  const teamId = team ?? (await findOnlyTeam());
  if (teamId === undefined) return [];
  if (kind === 'member') {
    const members = await ask('member.list', { teamId });
    return members.map(({ name, role, status }) => ({ word: name, text: `${role}, ${status}` }));
  }
  if (kind === 'request') {
    const requests = await ask('request.list', { teamId, status: 'pending' });
    return requests.map(({ id, kind: what, memberId }) => ({ word: id, text: `${what} of ${memberId}` }));
  }
  const status = STATUS[command];
  const tasks = await ask('task.list', { teamId, limit: MOST_TASKS, ...(status && { status }) });
  return tasks.map(({ id, title, status: stands }) => ({ word: id, text: `${title} (${stands})` }));
}

/** The one that a command means which names none. */
async function findOnlyTeam(): Promise<string | undefined> {
  const [only, ...others] = namesOfOpen(await ask('team.list', {}));
  return others.length === 0 ? only : undefined;
}

/** Commands that are for tasks in one state only. */
const STATUS: Readonly<Record<string, 'pending' | 'in_progress'>> = {
  'task claim': 'pending',
  'task complete': 'in_progress',
  'task release': 'in_progress',
  'task fail': 'in_progress',
};

/** A list, all of it. A connection of its own for each question, and never a daemon that is started for it. */
async function ask<N extends ListName>(type: N, payload: InputOf<N> & object): Promise<ResultOf<N>> {
  let after: string | number | undefined;
  const list = (await askOnce(type, payload, (next) => (after = next))) as unknown[];
  if (after !== undefined) {
    const more = (rest: object, onMore: OnMore): Promise<unknown> => askOnce(type, rest, onMore);
    await readOn({ list, after, payload, most: Infinity, ask: more });
  }
  return list as ResultOf<N>;
}

async function askOnce(type: ListName, payload: object, onMore: OnMore): Promise<unknown> {
  const home = findHome(process.env);
  const daemon = connectOnce(home.socket, readCredential(process.env, home), { onMore });
  try {
    return await daemon.call({ type, payload });
  } finally {
    daemon.close();
  }
}

type OnMore = (after: string | number) => void;

type ListName = Extract<OperationName, `${string}.list`>;

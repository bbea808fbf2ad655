import { findHome } from '../../../client/home.ts';
import { connectOnce } from '../../../client/once.ts';
import { readOn } from '../../../client/read-on.ts';
import { isVacant } from '../../../core/person.ts';
import type { InputOf, OperationName, ResultOf } from '../../../operations/index.ts';
import type { Command } from '../../line/command.ts';
import { findPlace, kindOf } from '../../line/completion/place.ts';
import type { Kind } from '../../line/completion/place.ts';
import type { Word } from '../../line/completion/words.ts';
import { findCommand } from '../../line/find.ts';
import { readCredential } from '../../reach/credential.ts';
import { namesOfOpen } from '../../reach/open-teams.ts';
import { teamsHere } from '../../reach/teams-here.ts';
import { clean } from '../../show/text.ts';
import { print } from '../../show/write.ts';
import { COMMANDS } from '../table.ts';

/** People wait at the keyboard, so values that take longer are not offered. */
const PATIENCE_MS = 800;

/** The highest number of tasks in a team. */
const MOST_TASKS = 10_000;

/** A shell takes our output for words. So only plain names and ids are offered, whoever made them. */
const PLAIN = /^[A-Za-z0-9][\w.:@-]*$/;

/**
 * Prints the possible values of the last word, for the shells: one per line, with a description after a tab. Asks the
 * running daemon; if there is none, or it is slow, it prints nothing. `words` are all words after `troupe`, the last
 * one as far as it is typed.
 */
export async function printValues(words: readonly string[]): Promise<number> {
  const found = findCommand(COMMANDS, words.slice(0, -1));
  if (!found) return 0;
  const place = findPlace(found.command, [...found.rest, words.at(-1) ?? '']);
  const { input, typed, team = process.env['TROUPE_TEAM_ID'] || process.env['TROUPE_TEAM'] } = place;
  const kind = input && kindOf(input);
  if (!kind) return 0;
  // In a list such as 1,2,3 only the last part is completed.
  const before = input.type === 'list' ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const offered = await Promise.race([
    list(kind, { team, offers: found.command.offers }).catch(() => []),
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
  readonly offers: Command['offers'];
}

async function list(kind: Kind, { team, offers }: About): Promise<Word[]> {
  if (kind === 'team') {
    const teams = await ask('team.list', {});
    return teams.map(({ name, status, description }) => ({ word: name, text: description || status }));
  }
  if (kind === 'agent') {
    const agents = await ask('agent.list', { quick: true });
    // Agents without a program need JSON from the user, so they have no name to offer.
    const named = agents.filter(({ program }) => program !== '');
    return named.map(({ name, title, path }) => ({
      word: name,
      text: path === undefined ? `${title}, not here` : title,
    }));
  }
  if (kind === 'leftover') {
    const left = (await askOnce('work.leftovers', {}, () => {})) as ResultOf<'work.leftovers'>;
    return left.map(({ id, kind: what, of }) => ({ word: id.slice(0, 12), text: `${what}, ${of}` }));
  }
  const teamId = team ?? (await findOnlyTeam());
  if (teamId === undefined) return [];
  if (kind === 'save') {
    const saves = (await askOnce('work.saves', { teamId }, () => {})) as ResultOf<'work.saves'>;
    return saves.map(({ commit, memberId, at }) => ({ word: commit.slice(0, 12), text: `${memberId}, ${at}` }));
  }
  if (kind === 'work') {
    const both = [list('member', { team: teamId, offers }), list('task', { team: teamId, offers })];
    return (await Promise.all(both)).flat();
  }
  if (kind === 'member') {
    const members = await ask('member.list', { teamId });
    const seated = members.filter((member) => !isVacant(member));
    return seated.map(({ name, role, status }) => ({ word: name, text: `${role}, ${status}` }));
  }
  if (kind === 'request') {
    const requests = await ask('request.list', { teamId, status: 'pending' });
    return requests.map(({ id, kind: what, memberId }) => ({ word: id, text: `${what} of ${memberId}` }));
  }
  const tasks = await ask('task.list', { teamId, limit: MOST_TASKS, ...(offers && { status: offers }) });
  return tasks.map(({ id, title, status: stands }) => ({ word: id, text: `${title} (${stands})` }));
}

/** The team of a command that names none. */
async function findOnlyTeam(): Promise<string | undefined> {
  const open = namesOfOpen(await ask('team.list', {}));
  if (open.length < 2) return open[0];
  const shown = open.map((teamId) => askOnce('team.show', { teamId }, () => {}) as Promise<ResultOf<'team.show'>>);
  const [only, ...others] = teamsHere(await Promise.all(shown), process.env);
  return others.length === 0 ? only?.name : undefined;
}

/** Fetches a whole list. Each call has its own connection, and never starts a daemon. */
async function ask<N extends ListName>(type: N, payload: InputOf<N> & object): Promise<ResultOf<N>> {
  let after: string | number | undefined;
  const list = (await askOnce(type, payload, (next) => (after = next))) as unknown[];
  if (after !== undefined) {
    const more = (rest: object, onMore: OnMore): Promise<unknown> => askOnce(type, rest, onMore);
    await readOn({ list, after, payload, most: Infinity, ask: more });
  }
  return list as ResultOf<N>;
}

async function askOnce(type: OperationName, payload: object, onMore: OnMore): Promise<unknown> {
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

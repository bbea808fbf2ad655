import type { Client } from '../../../client/client.ts';
import { findNearest } from '../../../core/nearest.ts';
import { isVacant } from '../../../core/person.ts';
import { joinSome } from '../../../core/text.ts';
import { untilOver, whyOver } from '../../reach/over.ts';
import { findTeamsWith } from '../../reach/which-team.ts';
import { errorScreen, Refusal } from '../../show/errors.ts';
import { standardScreen } from '../../show/screen.ts';
import type { Screen } from '../../show/screen.ts';
import { clean, fold } from '../../show/text.ts';
import { entryWriter, wholeLines } from '../../show/transcript-lines.ts';
import type { Entry, EntryWriter } from '../../show/transcript-lines.ts';
import { print, stepAside, toJson, warn, warnPeople } from '../../show/write.ts';

/** Which transcript to print, and how. */
export interface Reading {
  readonly teamId: string;
  readonly memberId: string;
  readonly follow: boolean;
  /** How many lines to print first; with JSON, entries. Everything that one read returns, if not given. */
  readonly lines?: number | undefined;
  readonly json: boolean;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/** For a member that Troupe does not run. */
export const NO_AGENT = 'has no agent that Troupe runs';

/** How long one read waits for new entries. Nothing is missed between two reads. */
const WAIT_MS = 25_000;

/**
 * Prints what a member did and was told. With `follow`, it goes on until the member or its team is over. `begun` is
 * called before the first line, when the member is known to exist. Returns whether there was anything to print.
 */
export async function printTranscript(client: Client, reading: Reading, begun?: () => void): Promise<boolean> {
  const { screen } = reading;
  // The terminal may have been resized.
  const present = (): Screen => (screen.isTerminal ? standardScreen(process.env) : screen);
  const writer = entryWriter(present, { isWhole: reading.lines === undefined });
  const endLine = (): void => print(writer.end());
  if (screen.isTerminal) {
    stepAside((say) => {
      endLine();
      say();
    });
  }
  try {
    return await printEntries(client, reading, { writer, begun });
  } finally {
    stepAside(undefined);
    endLine();
  }
}

async function printEntries(
  client: Client,
  { teamId, memberId, follow, lines, json, signal }: Reading,
  { writer, begun }: { writer: EntryWriter; begun: (() => void) | undefined },
): Promise<boolean> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  let after = 0;
  let session: string | null | undefined;
  let isSomething = false;
  const read = async (wait: number, until: AbortSignal): Promise<void> => {
    const answer = await client.call(
      'transcript.read',
      { teamId, memberId, after, tail: session === undefined, ...(wait > 0 && { wait }) },
      { signal: until },
    );
    if (session === undefined) tellEarlier(answer.earlier ?? [], { teamId, memberId });
    // A new session has its own file, which is read from its beginning.
    if (session && answer.session !== session) after = 0;
    else {
      const most = session === undefined ? lines : undefined;
      const texts = json ? answer.entries.map((entry) => toJson(entry, undefined)) : linesOf(answer.entries, writer);
      print(lastOf(texts, most).join(''));
      isSomething ||= answer.entries.length > 0;
      ({ after } = answer);
    }
    ({ session } = answer);
  };
  if (!follow) {
    await read(0, signal);
    return isSomething;
  }
  const { why, seq } = await whyOver(client, { teamId, memberId, signal });
  begun?.();
  await read(0, signal);
  let ending = why;
  if (ending === undefined) {
    const end = untilOver(client, seq, { teamId, memberId, signal: either }).then((said) => {
      ending = said;
      over.abort();
    });
    const following = readOn(() => read(WAIT_MS, either), either);
    // The first failure is the cause. An ending is no failure.
    await Promise.all([end, following]).catch((error: unknown) => {
      over.abort();
      if (ending === undefined) throw error;
    });
    signal.throwIfAborted();
    // Reads the last entries, since the ending interrupted the reading.
    await read(0, signal);
  }
  print(writer.end());
  warn(`${ending}\n`);
  return isSomething;
}

function linesOf(entries: readonly Entry[], writer: EntryWriter): string[] {
  const text = wholeLines(entries)
    .map((entry) => writer.add(entry))
    .join('');
  return text.match(/.+\n?|\n/g) ?? [];
}

function lastOf<T>(all: readonly T[], number: number | undefined): readonly T[] {
  return number === undefined ? all : all.slice(-number || Infinity);
}

/** How many earlier sessions are listed, one per line. */
const FEW = 3;

/** A restarted member has a new session. Earlier sessions are in other files, which this lists. */
function tellEarlier(earlier: readonly string[], { teamId, memberId }: { teamId: string; memberId: string }): void {
  const named = earlier.slice(-FEW).reverse();
  if (named.length === 0) return;
  const order =
    earlier.length > FEW ? `the newest of ${earlier.length}; --json lists all of them under earlier` : 'newest first';
  const read = `troupe transcript read ${clean(memberId)} --team ${clean(teamId)} --session ID`;
  const told = `This is the newest session of ${clean(memberId)}; earlier ones: ${read}, with ${named.join(', ')} (${order})`;
  warnPeople(fold(`${told}\n`, errorScreen(), 2));
}

async function readOn(read: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await read();
}

/**
 * The team of a member whose team is not named: of the teams with a member of that name the one of the folder, else the only
 * open one.
 */
export async function findTeamOf(
  client: Client,
  memberId: string,
  { teamId, mayBeClosed }: { readonly teamId: string | undefined; readonly mayBeClosed: boolean },
): Promise<string> {
  if (teamId !== undefined) return teamId;
  const { names: having } = await findTeamsWith(client, memberId, { mayBeClosed, environment: process.env });
  const [only, ...others] = having;
  if (only !== undefined && others.length === 0) return only;
  const quoted = JSON.stringify(memberId);
  const why =
    only === undefined
      ? `No open team has a member ${quoted}; ${await describeMembers(client, memberId)}`
      : `The teams ${having.join(', ')} have a member ${quoted}: say which, such as with --team ${only}`;
  throw new Refusal('not_found', why);
}

/** The member that was probably meant, also in a closed team; else those of all open teams. */
async function describeMembers(client: Client, memberId: string): Promise<string> {
  const teams = (await client.call('team.list', {})).filter(({ problem }) => problem === undefined);
  const lists = teams.map(async ({ name, status }) => {
    // A team that is deleted meanwhile must not fail the others.
    const members = await client.call('member.list', { teamId: name }).catch(() => []);
    const present = members.filter((member) => !isVacant(member));
    return present.map(({ id }) => ({ id, team: name, isOpen: status !== 'cleaned-up' }));
  });
  const all = (await Promise.all(lists)).flat();
  const name = all.some(({ id }) => id === memberId)
    ? memberId
    : findNearest(memberId, [...new Set(all.map(({ id }) => id))]);
  const near = all.find(({ id, isOpen }) => id === name && isOpen) ?? all.find(({ id }) => id === name);
  if (near) return `did you mean ${near.id} of team ${near.team}? Add --team ${near.team}`;
  const closed = 'for a member of a closed team add --team NAME; troupe teams lists them';
  const open = all.filter(({ isOpen }) => isOpen).map(({ id, team }) => `${id} (team ${team})`);
  return open.length === 0 ? closed : `there is ${joinSome(open, ', ')}; ${closed}`;
}

import type { Client } from '../../../client/client.ts';
import { findOpenTeams } from '../../reach/open-teams.ts';
import { untilOver, whyOver } from '../../reach/over.ts';
import { errorScreen, Refusal } from '../../show/errors.ts';
import { standardScreen } from '../../show/screen.ts';
import type { Screen } from '../../show/screen.ts';
import { clean, fold } from '../../show/text.ts';
import { entryWriter, wholeLines } from '../../show/transcript-lines.ts';
import type { Entry, EntryWriter } from '../../show/transcript-lines.ts';
import { print, stepAside, toJson, warn, warnPeople } from '../../show/write.ts';

/** Whose transcript, and how to write it. */
export interface Reading {
  readonly teamId: string;
  readonly memberId: string;
  readonly follow: boolean;
  /** How many lines of what is there; as JSON, entries. All of what one read brings unless said. */
  readonly lines?: number | undefined;
  readonly json: boolean;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/** Of a member that somebody else runs. */
export const NO_AGENT = 'has no agent that Troupe runs';

/** A transcript is asked for so long at a time; nothing happens in between that is missed. */
const WAIT_MS = 25_000;

/**
 * Writes what a member did and was told: the last of it, then, if asked, what comes until the member or its team is over.
 * `begun` is called before the first line, when it is sure that there is such a member. Returns whether there was anything.
 */
export async function printTranscript(client: Client, reading: Reading, begun?: () => void): Promise<boolean> {
  const { screen } = reading;
  // A terminal may have another width by now.
  const writer = entryWriter((): Screen => (screen.isTerminal ? standardScreen(process.env) : screen));
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
    // A new session has a file of its own, to be read from its beginning.
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
    // Whichever fails first is what went wrong; an end is none.
    await Promise.all([end, following]).catch((error: unknown) => {
      over.abort();
      if (ending === undefined) throw error;
    });
    signal.throwIfAborted();
    // What was written last, since the reading was broken off.
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

/** So many are easily read at a glance, also where each takes a line. */
const FEW = 3;

/** A session begins where a member was started anew: what came before is in another file. */
function tellEarlier(earlier: readonly string[], { teamId, memberId }: { teamId: string; memberId: string }): void {
  const named = earlier.slice(-FEW).reverse();
  if (named.length === 0) return;
  const order =
    earlier.length > FEW
      ? `the newest of ${earlier.length}; --json in place of --session ID lists all under earlier`
      : 'newest first';
  const read = `troupe transcript read ${clean(memberId)} --team ${clean(teamId)} --session ID`;
  const told = `This is the newest session of ${clean(memberId)}; earlier ones: ${read}, with ${named.join(', ')} (${order})`;
  warnPeople(fold(`${told}\n`, errorScreen(), 2));
}

async function readOn(read: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await read();
}

/** The one member of that name among the open teams, when the team is not said. */
export async function findTeamOf(client: Client, memberId: string, teamId: string | undefined): Promise<string> {
  if (teamId !== undefined) return teamId;
  const having: string[] = [];
  for (const name of await findOpenTeams(client, undefined)) {
    const members = await client.call('member.list', { teamId: name });
    if (members.some(({ id }) => id === memberId)) having.push(name);
  }
  const [only, ...others] = having;
  if (only !== undefined && others.length === 0) return only;
  const why =
    only === undefined
      ? `No open team has a member ${JSON.stringify(memberId)}: troupe ps lists those that run, and --team names a closed team`
      : `The teams ${having.join(', ')} have a member ${JSON.stringify(memberId)}: say which with --team`;
  throw new Refusal('not_found', why);
}

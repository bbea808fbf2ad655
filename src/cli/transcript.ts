import type { Client } from '../client/client.ts';
import { Refusal } from './errors.ts';
import { findOpenTeams } from './open-teams.ts';
import { untilOver, whyOver } from './over.ts';
import { paint, standardScreen } from './screen.ts';
import type { Screen } from './screen.ts';
import { cleanLines, fold } from './text.ts';
import { print, toJson, warn } from './write.ts';

/** Whose transcript, and how to write it. */
export interface Reading {
  readonly teamId: string;
  readonly memberId: string;
  readonly follow: boolean;
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
  const { teamId, memberId, follow, json, screen, signal } = reading;
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  let after = 0;
  let session: string | null | undefined;
  let isSomething = false;
  // A terminal may have another width by now.
  const present = (): Screen => (screen.isTerminal ? standardScreen(process.env) : screen);
  const read = async (wait: number, until: AbortSignal): Promise<void> => {
    const answer = await client.call(
      'transcript.read',
      { teamId, memberId, after, tail: session === undefined, ...(wait > 0 && { wait }) },
      { signal: until },
    );
    // A new session has a file of its own, to be read from its beginning.
    if (session && answer.session !== session) after = 0;
    else {
      if (json) for (const entry of answer.entries) print(toJson(entry, undefined));
      else for (const entry of wholeLines(answer.entries)) print(entryText(entry, present()));
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
  warn(`${ending}\n`);
  return isSomething;
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

/** A line of a transcript. */
export type Entry = { readonly type: string; readonly at: number; readonly [key: string]: unknown };

/** Entries with lines that were told in pieces put together, as far as the pieces are here. */
export function wholeLines(entries: readonly Entry[]): Entry[] {
  const whole: Entry[] = [];
  for (const entry of entries) {
    const last = whole.at(-1);
    const isMore = entry.type === 'text' && entry['continues'] === true && last?.type === 'text';
    if (isMore) whole[whole.length - 1] = { ...last, text: `${String(last['text'])}${String(entry['text'])}` };
    else whole.push(entry);
  }
  return whole;
}

/** A line of a transcript for people; what does not fit goes on under its text, beside the clock. */
export function entryText(entry: Entry, screen: Screen): string {
  return fold(plainEntry(entry, screen), screen, CLOCK);
}

/** The clock and the space after it. */
const CLOCK = 9;

function plainEntry(entry: Entry, screen: Screen): string {
  const clock = paint(screen, 'dim', new Date(entry.at).toTimeString().slice(0, 8));
  const lines = (text: unknown): string =>
    cleanLines(typeof text === 'string' ? text : '').join(`\n${' '.repeat(CLOCK)}`);
  switch (entry.type) {
    case 'session':
      return `${clock} ${paint(screen, 'dim', `session ${lines(entry['sessionId'])} (${lines(entry['agent'])})`)}\n`;
    case 'turn':
      return `${clock} ${paint(screen, 'cyan', `› ${lines(entry['text'])}`)}\n`;
    case 'text':
      return `${clock} ${lines(entry['text'])}\n`;
    case 'tool':
      return `${clock} ${paint(screen, 'yellow', `⚙ ${lines(entry['name'])} ${lines(entry['status'])}`)}\n`;
    case 'waiting':
      return `${clock} ${paint(screen, 'yellow', `… waits: ${lines(entry['reason'])}`)}\n`;
    case 'permission':
      return `${clock} ${paint(screen, 'yellow', `? asks: ${lines(entry['description'] || entry['tool'])}`)}\n`;
    case 'turnEnd': {
      const failed = entry['reason'] !== 'done';
      const why = failed && entry['error'] ? `: ${lines(entry['error'])}` : '';
      return `${clock} ${paint(screen, failed ? 'red' : 'green', `■ ${lines(entry['reason'])}${why}`)}\n`;
    }
    // Bookkeeping: troupe usage shows what was spent.
    case 'shown':
    case 'usage':
      return '';
    default:
      return `${clock} ${paint(screen, 'dim', lines(entry.type))}\n`;
  }
}

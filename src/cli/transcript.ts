import type { Client } from '../client/client.ts';
import { Refusal } from './errors.ts';
import { paint } from './screen.ts';
import type { Screen } from './screen.ts';
import { cleanLines } from './text.ts';
import { print, toJson } from './write.ts';

/** Whose transcript, and how to write it. */
export interface Reading {
  readonly teamId: string;
  readonly memberId: string;
  readonly follow: boolean;
  readonly json: boolean;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/** A transcript is asked for so long at a time; nothing happens in between that is missed. */
const WAIT_MS = 25_000;

/** Writes what a member did and was told: the last of it, then, if asked, what comes. */
export async function printTranscript(client: Client, reading: Reading): Promise<void> {
  const { teamId, memberId, follow, json, screen, signal } = reading;
  let after = 0;
  let session: string | null | undefined;
  do {
    const answer = await client.call(
      'transcript.read',
      {
        teamId,
        memberId,
        after,
        tail: session === undefined,
        ...(follow && session !== undefined && { wait: WAIT_MS }),
      },
      { signal },
    );
    // A new session has a file of its own, to be read from its beginning.
    if (session && answer.session !== session) after = 0;
    else {
      for (const entry of answer.entries) print(json ? toJson(entry, undefined) : entryText(entry, screen));
      ({ after } = answer);
    }
    ({ session } = answer);
    signal.throwIfAborted();
  } while (follow);
}

/** The one member of that name among the open teams, when the team is not said. */
export async function findTeamOf(client: Client, memberId: string, teamId: string | undefined): Promise<string> {
  if (teamId !== undefined) return teamId;
  const teams = await client.call('team.list', {});
  const having: string[] = [];
  for (const { name, status } of teams) {
    if (status === 'cleaned-up') continue;
    const members = await client.call('member.list', { teamId: name });
    if (members.some(({ id }) => id === memberId)) having.push(name);
  }
  const [only, ...others] = having;
  if (only !== undefined && others.length === 0) return only;
  const why = only === undefined ? 'No open team has' : `The teams ${having.join(', ')} have`;
  throw new Refusal('not_found', `${why} a member ${memberId}: say --team`);
}

type Entry = { readonly type: string; readonly at: number; readonly [key: string]: unknown };

function entryText(entry: Entry, screen: Screen): string {
  const clock = paint(screen, 'dim', new Date(entry.at).toTimeString().slice(0, 8));
  const lines = (text: unknown): string => cleanLines(typeof text === 'string' ? text : '').join(`\n${' '.repeat(9)}`);
  switch (entry.type) {
    case 'session':
      return `${clock} ${paint(screen, 'dim', `session ${lines(entry['sessionId'])} (${lines(entry['agent'])})`)}\n`;
    case 'turn':
      return `${clock} ${paint(screen, 'cyan', `› ${lines(entry['text'])}`)}\n`;
    case 'text':
      return `${clock} ${lines(entry['text'])}\n`;
    case 'tool':
      return `${clock} ${paint(screen, 'yellow', `⚙ ${lines(entry['name'])} ${lines(entry['status'])}`)}\n`;
    case 'turnEnd': {
      const failed = entry['reason'] !== 'done';
      return `${clock} ${paint(screen, failed ? 'red' : 'green', `■ ${lines(entry['reason'])}${failed ? `: ${lines(entry['error'])}` : ''}`)}\n`;
    }
    case 'shown':
      return '';
    default:
      return `${clock} ${paint(screen, 'dim', lines(entry.type))}\n`;
  }
}

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Interface } from 'node:readline';
import type { Client } from '../../../client/client.ts';
import type { Arguments, Surroundings } from '../../line/command.ts';
import { newCommandId } from '../../reach/call.ts';
import { openClient } from '../../reach/connect.ts';
import { whyOver } from '../../reach/over.ts';
import type { Followed } from '../../reach/over.ts';
import { clean, fold } from '../../show/text.ts';
import { print, warn } from '../../show/write.ts';
import { findTerminal, showTerminal } from './terminal.ts';
import { findTeamOf, NO_AGENT, printTranscript } from './transcript.ts';

const HOW_TO_TYPE = 'Type a message and Enter; ! in front makes it urgent; Ctrl-D or Ctrl-C leaves.';
const HOW_TO_LOOK = 'Lines of standard input are sent to it. The view ends with it, or with Ctrl-C.';

/**
 * A live view of a member with an input line. Each line is a message; one that begins with ! is urgent. The member does
 * not notice when the view ends, and the view ends with the member. A member that works in a terminal is shown there.
 */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { memberId, teamId: named } = given.input as { memberId: string; teamId?: string };
  const client = openClient(environment, { patience: Infinity });
  let lines: Interface | undefined;
  // Standard input may be closed.
  process.stdin.on('error', () => {});
  const left = new AbortController();
  try {
    const teamId = await findTeamOf(client, memberId, { teamId: named, mayBeClosed: false });
    const isTerminal = process.stdin.isTTY && process.stdout.isTTY && !given.json;
    const socket = isTerminal ? findTerminal(environment, { teamId, memberId }) : undefined;
    if (socket !== undefined && (await showTerminal(socket, environment))) return 0;
    // Not earlier: only the member's own terminal may read what is typed into it.
    lines = createInterface({ input: process.stdin });
    const greet = (): void => {
      if (!given.json) {
        print(fold(`${memberId} of ${teamId}. ${process.stdin.isTTY ? HOW_TO_TYPE : HOW_TO_LOOK}\n`, screen, 2));
      }
    };
    const sent = (): Promise<void> => confirmSent(client, { teamId, memberId }, given.json);
    const sends: Promise<void>[] = [];
    const isRead = once(lines, 'close');
    lines.on('line', (line) => sends.push(say(client, { teamId, memberId }, line, sent)));
    if (!process.stdin.isTTY && (await isSilent(client, { teamId, memberId, signal }))) {
      greet();
      await isRead;
      await Promise.all(sends);
      warn(`${clean(memberId)} ${NO_AGENT}: there is nothing to follow.\n`);
      return 0;
    }
    // Ctrl-D at a terminal leaves. The end of a file or pipe only means that there is nothing more to send.
    if (process.stdin.isTTY) lines.once('close', () => left.abort());
    const either = AbortSignal.any([signal, left.signal]);
    await printTranscript(client, { teamId, memberId, follow: true, json: given.json, screen, signal: either }, greet);
    return 0;
  } catch (error) {
    // The terminal printed ^C, so the shell's prompt needs a new line.
    if (signal.aborted && process.stdin.isTTY) warn('\n');
    if (left.signal.aborted && !signal.aborted) return 0;
    throw error;
  } finally {
    lines?.close();
    client.close();
  }
}

/** Whether a member will never show anything, because Troupe does not run it. False for a member that is over. */
async function isSilent(client: Client, followed: Required<Followed>): Promise<boolean> {
  const { why } = await whyOver(client, followed);
  const { teamId, memberId, signal } = followed;
  return why === undefined && (await client.call('member.show', { teamId, memberId }, { signal })).agent === undefined;
}

/**
 * Confirms that a message was sent, and says when it is read if that is not soon. Never printed into the transcript.
 */
async function confirmSent(
  client: Client,
  { teamId, memberId }: { teamId: string; memberId: string },
  json: boolean,
): Promise<void> {
  if (json) return;
  const { agent } = await client.call('member.show', { teamId, memberId });
  const { NAMELESS } = await import('../../../agents/catalog.ts');
  const isProgram = agent && NAMELESS[agent.kind]?.abilities.mail === false && agent.messages !== true;
  warn(`Sent to ${clean(memberId)}${isProgram ? '; a program reads it with its next task' : ''}.\n`);
}

/** Sends a typed line to a member. */
export async function say(
  client: Client,
  { teamId, memberId }: { teamId: string; memberId: string },
  line: string,
  sent: () => Promise<void> = async () => {},
): Promise<void> {
  const urgent = line.startsWith('!');
  const content = (urgent ? line.slice(1) : line).trim();
  if (content === '') return;
  const message = { teamId, toId: memberId, content, ...(urgent && { priority: 'urgent' as const }) };
  try {
    await client.call('message.send', message, { commandId: newCommandId() });
    await sent();
  } catch (error) {
    warn(`Not sent: ${(error as Error).message}\n`);
  }
}

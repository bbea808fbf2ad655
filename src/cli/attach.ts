import { createInterface } from 'node:readline';
import type { Arguments } from './arguments.ts';
import { newCommandId } from './call.ts';
import { openClient } from './connect.ts';
import type { Surroundings } from './own.ts';
import { findTeamOf, printTranscript } from './transcript.ts';
import { print, warn } from './write.ts';

/**
 * A live view of a member in which one can type to it: each line is a message, one that begins with ! an urgent one. The
 * member does not notice when the view ends; the view ends with the member.
 */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { memberId, teamId: named } = given.input as { memberId: string; teamId?: string };
  const client = openClient(environment, { patience: Infinity });
  const lines = process.stdin.isTTY ? createInterface({ input: process.stdin }) : undefined;
  try {
    const teamId = await findTeamOf(client, memberId, named);
    const greet = (): void => {
      if (!given.json) {
        print(`${memberId} of ${teamId}. Type a message and Enter; ! in front makes it urgent; Ctrl-C leaves.\n`);
      }
    };
    lines?.on('line', (line) => {
      const urgent = line.startsWith('!');
      const content = (urgent ? line.slice(1) : line).trim();
      if (content === '') return;
      const message = { teamId, toId: memberId, content, ...(urgent && { priority: 'urgent' as const }) };
      client.call('message.send', message, { commandId: newCommandId() }).catch((error: unknown) => {
        warn(`Not sent: ${(error as Error).message}\n`);
      });
    });
    await printTranscript(client, { teamId, memberId, follow: true, json: given.json, screen, signal }, greet);
    return 0;
  } finally {
    lines?.close();
    client.close();
  }
}

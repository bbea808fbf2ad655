import type { Arguments, Surroundings } from '../../line/command.ts';
import { openClient } from '../../reach/connect.ts';
import { show } from '../../show/result.ts';
import { cleanLines, cut } from '../../show/text.ts';
import { print, warn } from '../../show/write.ts';
import { findTerminal, readTerminal } from './terminal.ts';
import { findTeamOf, NO_AGENT, printTranscript } from './transcript.ts';

/** What a member does now: its facts, and the end of its transcript. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { memberId, teamId: named } = given.input as { memberId: string; teamId?: string };
  const client = openClient(environment);
  try {
    const teamId = await findTeamOf(client, memberId, { teamId: named, mayBeClosed: true });
    const member = await client.call('member.show', { teamId, memberId }, { signal });
    await show('member.show', member, { json: given.json, screen });
    if (given.json) return 0;
    print('\n');
    const isSomething = await printTranscript(client, { teamId, memberId, follow: false, json: false, screen, signal });
    const socket = findTerminal(environment, { teamId, memberId });
    const shown = socket === undefined ? [] : cleanLines(await readTerminal(socket));
    const lines = shown.map((line) => cut(line.trimEnd(), screen.columns)).join('\n');
    if (lines.trim() !== '') print(`\nIts terminal (troupe attach ${memberId}):\n${lines}\n`);
    else if (!isSomething && !member.agent) warn(`${memberId} ${NO_AGENT}, and so no transcript.\n`);
    else if (!isSomething) warn(`${memberId} has no transcript: its agent has not run here yet.\n`);
    return 0;
  } finally {
    client.close();
  }
}

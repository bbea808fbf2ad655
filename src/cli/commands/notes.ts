import type { Arguments, Surroundings } from '../line/command.ts';
import { newCommandId } from '../reach/call.ts';
import { openClient } from '../reach/connect.ts';
import { UsageError } from '../show/errors.ts';
import { show } from '../show/result.ts';
import { printLast } from './watch/lines.ts';

interface Given {
  readonly teamId: string;
  readonly verb?: 'list' | 'add' | 'search' | 'log';
  readonly text?: string;
  readonly tags?: string[];
  readonly limit?: number;
}

/** How many lines `log` shows by default. */
const LOGGED = 50;

/** What a team knows: its notes, the results of its tasks, and what happened to it. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { teamId, verb = 'list', text, tags, limit } = given.input as unknown as Given;
  const [tag] = tags ?? [];
  if (text === undefined && (verb === 'add' || verb === 'search')) {
    throw new UsageError(`The text is missing: troupe notes ${verb} "..."`, 'notes');
  }
  if (text !== undefined && (verb === 'list' || verb === 'log')) {
    throw new UsageError(`troupe notes ${verb} takes no text; did you mean troupe notes search?`, 'notes');
  }
  const options = { signal, ...(given.as !== undefined && { as: given.as }) };
  const output = { json: given.json, screen };
  const most = limit === undefined ? {} : { limit };
  const client = openClient(environment);
  try {
    if (verb === 'add') {
      const note = { teamId, text: text ?? '', ...(tags && { tags }) };
      const added = await client.call('note.add', note, { ...options, commandId: newCommandId() });
      await show('note.add', added, output);
    } else if (verb === 'search') {
      const hits = await client.call('note.search', { teamId, query: text ?? '', ...most }, options);
      await show('note.search', hits, output);
    } else if (verb === 'list') {
      const notes = await client.call('note.list', { teamId, ...most, ...(tag !== undefined && { tag }) }, options);
      await show('note.list', notes, { ...output, input: { teamId, tag } });
    } else {
      const { seq } = await client.call('team.status', { teamId }, options);
      await printLast(client, limit ?? LOGGED, { teamId, upTo: seq, json: given.json, screen, signal });
    }
    return 0;
  } finally {
    client.close();
  }
}

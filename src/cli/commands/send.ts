import type { InputOf } from '../../operations/index.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { newCommandId } from '../reach/call.ts';
import { openClient } from '../reach/connect.ts';
import { UsageError } from '../show/errors.ts';
import { show } from '../show/result.ts';

/** Sends a text to one member, or to all others. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { toId, content, all, urgent, ...rest } = given.input as Given;
  const input = { ...rest, ...(urgent && { priority: 'urgent' as const }) };
  const text = all ? (content ?? toId) : content;
  if (all && content !== undefined) {
    throw new UsageError(`Send to ${JSON.stringify(toId)} or to all, not both; put the text in quotes`, 'send');
  }
  if (text === undefined) {
    throw new UsageError(`The text is missing: troupe send ${all ? '--all' : 'NAME'} "..."`, 'send');
  }
  const options = { signal, commandId: newCommandId(), ...(given.as !== undefined && { as: given.as }) };
  const client = openClient(environment);
  try {
    const result = all
      ? await client.call('message.broadcast', { ...input, content: text }, options)
      : await client.call('message.send', { ...input, toId: toId ?? '', content: text }, options);
    await show(all ? 'message.broadcast' : 'message.send', result, { json: given.json, screen });
  } finally {
    client.close();
  }
  return 0;
}

type Given = Partial<Pick<InputOf<'message.send'>, 'toId' | 'content'>> &
  Omit<InputOf<'message.broadcast'>, 'content'> & { all?: boolean; urgent?: boolean };

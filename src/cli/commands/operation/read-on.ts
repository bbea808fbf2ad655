import { readOn as readList } from '../../../client/read-on.ts';
import type { Cursor } from '../../../client/read-on.ts';
import type { OperationName } from '../../../operations/index.ts';
import type { Arguments, Command } from '../../line/command.ts';
import { openClient } from '../../reach/connect.ts';

/**
 * Fetches pages until the list has as many items as wanted. A program that reads JSON has no next page, so it gets all,
 * unless it sets a limit. Returns the cursor of the rest.
 */
export async function readOn(
  command: Command,
  { input, as, json }: Arguments,
  begun: { readonly list: unknown[]; readonly after: Cursor },
): Promise<Cursor | undefined> {
  const most = (input['limit'] as number | undefined) ?? (json ? Infinity : await defaultLimit(command));
  const client = openClient(process.env);
  try {
    return await readList({
      ...begun,
      payload: input,
      most,
      ask: (rest, onMore) =>
        client.call(command.operation as OperationName, rest, { onMore, ...(as !== undefined && { as }) }),
    });
  } finally {
    client.close();
  }
}

async function defaultLimit({ words }: Command): Promise<number> {
  const { TEXTS } = await import('../../line/texts.ts');
  return (TEXTS[words]?.defaults['limit'] as number | undefined) ?? Infinity;
}

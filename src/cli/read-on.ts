import type { OperationName } from '../operations/index.ts';
import type { Arguments } from './arguments.ts';
import type { Command } from './command.ts';
import { openClient } from './connect.ts';

/** A list as far as it was read, and what to give as `after` for the rest. */
interface Begun {
  readonly list: unknown[];
  readonly after: string | number;
}

/**
 * Reads a list on until there are as many as were asked for: the daemon hands out fewer at a time when they are long. A
 * program that reads JSON is told of no next page: it gets all, unless it says how many it wants. Returns from where the
 * list goes on.
 */
export async function readOn(
  command: Command,
  { input, as, json }: Arguments,
  begun: Begun,
): Promise<Begun['after'] | undefined> {
  const { list } = begun;
  const most = (input['limit'] as number | undefined) ?? (json ? Infinity : await defaultLimit(command));
  const client = openClient(process.env);
  let after: Begun['after'] | undefined = begun.after;
  try {
    while (after !== undefined && list.length < most) {
      const limit = most === Infinity ? {} : { limit: most - list.length };
      // What is known to be there is not waited for.
      const rest = { ...input, ...limit, after, wait: undefined };
      after = undefined;
      const page = await client.call(command.operation as OperationName, rest, {
        onMore: (next) => void (after = next),
        ...(as !== undefined && { as }),
      });
      for (const item of page as unknown as unknown[]) list.push(item);
    }
  } finally {
    client.close();
  }
  return after;
}

async function defaultLimit({ words }: Command): Promise<number> {
  const { TEXTS } = await import('./manifest-texts.ts');
  return (TEXTS[words]?.defaults['limit'] as number | undefined) ?? Infinity;
}

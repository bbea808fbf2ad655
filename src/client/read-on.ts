/** From where a list goes on: what to give as `after`. */
export type Cursor = string | number;

/** A list as far as it was read, and how to ask for more of it. */
export interface Begun {
  readonly list: unknown[];
  readonly after: Cursor;
  /** What was asked for. */
  readonly payload: object;
  /** So many are wanted. */
  readonly most: number;
  /** Asks again; `onMore` hears that there is still more. */
  readonly ask: (payload: object, onMore: (after: Cursor) => void) => Promise<unknown>;
}

/**
 * Reads a list on until there are as many as were asked for: a daemon hands out fewer at a time when they are long. Returns
 * from where the list goes on.
 */
export async function readOn({ list, after: from, payload, most, ask }: Begun): Promise<Cursor | undefined> {
  let after: Cursor | undefined = from;
  while (after !== undefined && list.length < most) {
    // What is known to be there is not waited for.
    const rest = { ...payload, after, wait: undefined, ...(most < Infinity && { limit: most - list.length }) };
    after = undefined;
    const page = await ask(rest, (next) => void (after = next));
    for (const item of page as unknown[]) list.push(item);
  }
  return after;
}

/** The cursor at which a list continues: the value for `after`. */
export type Cursor = string | number;

/** A list as far as it was read, and how to fetch more of it. */
export interface Begun {
  readonly list: unknown[];
  readonly after: Cursor;
  /** The original input. */
  readonly payload: object;
  /** How many items are wanted. */
  readonly most: number;
  /** Fetches the next page; calls `onMore` if there is still more. */
  readonly ask: (payload: object, onMore: (after: Cursor) => void) => Promise<unknown>;
}

/**
 * Fetches pages until the list has as many items as wanted: the daemon returns fewer at a time when items are long.
 * Returns the cursor of the rest.
 */
export async function readOn({ list, after: from, payload, most, ask }: Begun): Promise<Cursor | undefined> {
  let after: Cursor | undefined = from;
  while (after !== undefined && list.length < most) {
    // More items exist already, so the call does not wait.
    const rest = { ...payload, after, wait: undefined, ...(most < Infinity && { limit: most - list.length }) };
    after = undefined;
    const page = await ask(rest, (next) => void (after = next));
    for (const item of page as unknown[]) list.push(item);
  }
  return after;
}

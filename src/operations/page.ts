import { TeamError } from '../core/errors.ts';
import { quote } from '../core/text.ts';
import type { Context, Cursor } from './operation.ts';

/** The size of one page of a long list, made in 10 ms; callers ask for the next one with a cursor. Characters. */
export const ENOUGH_CHARS = 512 * 1024;

/**
 * The first page of a list: at most `limit` items, and at most the size of one answer. A caller that cannot learn about
 * further pages (no `more`) gets all that it asked for.
 */
export function pageOf<T extends { readonly id: Cursor }>(
  items: Iterable<T>,
  { limit = Infinity, more }: { readonly limit?: number; readonly more: Context['more'] | undefined },
): T[] {
  const page: T[] = [];
  let size = 0;
  for (const item of items) {
    const last = page.at(-1);
    if (last && (page.length >= limit || (more && size >= ENOUGH_CHARS))) {
      more?.(last.id);
      break;
    }
    page.push(item);
    if (more) size += sizeOf(item);
  }
  return page;
}

/** Requires that the cursor's item exists, in a list from which nothing is ever removed. */
export function requireCursor<T>(found: T | undefined, after: string): T {
  if (found !== undefined) return found;
  throw new TeamError(
    'not_found',
    `after: there is no ${quote(after)} in this list; leave it out to start from the beginning`,
  );
}

/** The approximate length of a value's JSON; serializing it would take ten times as long. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null) return 6;
  if (value instanceof Date) return 27;
  let size = 2;
  for (const key in value) size += key.length + 4 + sizeOf((value as Record<string, unknown>)[key]);
  return size;
}

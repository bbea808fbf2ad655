import type { InputOf, ResultOf } from '../../src/operations/index.ts';

type Page = ResultOf<'transcript.read'>;
type Part = Omit<InputOf<'transcript.read'>, 'teamId' | 'memberId'>;

const NOTHING: Page = { session: null, after: 0, entries: [] };

/** The recorded page that a daemon would answer with. Pages are asked for where others end. */
export function transcriptPage(pages: readonly Page[], part: Part): Page {
  if (part.since !== undefined) {
    const { since } = part;
    return pages.find(({ entries }) => entries.some(({ at }) => at >= since)) ?? pages.at(-1) ?? NOTHING;
  }
  const session = part.session ?? pages.at(-1)?.session;
  const own = pages.filter((page) => page.session === session);
  const { before, after = 0 } = part;
  if (before !== undefined) return own.findLast(({ from = 0 }) => from < before) ?? own[0] ?? NOTHING;
  if (part.tail) return own.at(-1) ?? NOTHING;
  return own.find((page) => page.after > after) ?? own.at(-1) ?? NOTHING;
}

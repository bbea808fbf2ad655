/**
 * How well an entry of the palette matches the typed text, from 0 (not at all) to 1. An exact name comes before a
 * prefix, a prefix before a word that begins so, and scattered letters come last.
 */
export function rank(entry: string, typed: string): number {
  const wanted = normalize(typed);
  if (wanted === '') return 1;
  const whole = normalize(entry);
  // An entry begins with its kind: `member ann tester`, `#12 Write the parser`.
  const name = whole.replace(/^(?:(?:team|member) |#)/, '');
  const [first = ''] = name.split(' ', 1);
  if ([whole, name, first].includes(wanted) || whole.startsWith(`${wanted} `)) return 1;
  if (name.startsWith(wanted) || whole.startsWith(wanted)) return 0.9;
  if (whole.includes(` ${wanted}`)) return 0.8;
  const words = whole.split(/[^\p{L}\p{N}#]+/u);
  const parts = wanted.split(' ');
  if (parts.every((part) => words.some((word) => word.startsWith(part)))) return 0.7;
  // The kind only matches as a whole word: the letters of `member` are in nearly every name.
  if (name.includes(wanted)) return 0.6;
  if (parts.every((part) => name.includes(part))) return 0.5;
  return isScattered(name, wanted) ? 0.1 : 0;
}

/** The best matches. Of equal matches, and without a text, the last entries. */
export function findBest<T>(
  entries: readonly T[],
  typed: string,
  { most, entryOf }: { readonly most: number; readonly entryOf: (one: T) => string },
): T[] {
  if (typed.trim() === '') return entries.slice(-most);
  const fitting = entries.flatMap((one) => {
    const fit = rank(entryOf(one), typed);
    return fit > 0 ? [{ one, fit }] : [];
  });
  // Sorting is stable, so the newest of equal matches come first.
  return fitting
    .toReversed()
    .toSorted((a, b) => b.fit - a.fit)
    .slice(0, most)
    .map(({ one }) => one);
}

function normalize(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, ' ').trim();
}

/** Whether the letters occur in this order, with anything between them. */
function isScattered(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters.replaceAll(' ', '')) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

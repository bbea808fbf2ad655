/**
 * How well an entry of the palette fits what was typed, from 0 (not at all) to 1. What is called exactly so comes before
 * what begins so, that before what has a word that begins so, and letters that are merely scattered come last.
 */
export function rank(entry: string, typed: string): number {
  const wanted = normalize(typed);
  if (wanted === '') return 1;
  const whole = normalize(entry);
  // An entry begins with what it is: `member ann tester`, `#12 Write the parser`.
  const name = whole.replace(/^(?:(?:team|member) |#)/, '');
  const [first = ''] = name.split(' ', 1);
  if ([whole, name, first].includes(wanted) || whole.startsWith(`${wanted} `)) return 1;
  if (name.startsWith(wanted) || whole.startsWith(wanted)) return 0.9;
  if (whole.includes(` ${wanted}`)) return 0.8;
  const words = whole.split(/[^\p{L}\p{N}#]+/u);
  const parts = wanted.split(' ');
  if (parts.every((part) => words.some((word) => word.startsWith(part)))) return 0.7;
  // What it is counts as a word only: `member` has letters of nearly every name.
  if (name.includes(wanted)) return 0.6;
  if (parts.every((part) => name.includes(part))) return 0.5;
  return isScattered(name, wanted) ? 0.1 : 0;
}

/** Those of many that fit best; of those that fit alike, and where nothing was typed, the last. */
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
  // Sorting keeps the order of equals, and so the newest come first.
  return fitting
    .toReversed()
    .toSorted((a, b) => b.fit - a.fit)
    .slice(0, most)
    .map(({ one }) => one);
}

function normalize(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, ' ').trim();
}

/** Whether the letters are there in this order, whatever is between them. */
function isScattered(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters.replaceAll(' ', '')) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

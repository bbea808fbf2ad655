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
  if (whole.includes(wanted)) return 0.6;
  if (parts.every((part) => whole.includes(part))) return 0.5;
  return isScattered(whole, wanted) ? 0.1 : 0;
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

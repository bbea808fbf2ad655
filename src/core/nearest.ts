/** The word that was probably meant, if one is similar enough. */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  // A single letter is equally near to every other letter.
  const limit = word.length < 2 ? 0 : Math.max(1, Math.floor(word.length / 3));
  const [sought, first] = [word.toLowerCase(), word.slice(0, 1).toLowerCase()];
  const ranked = known
    .map((one) => ({ one, text: one.toLowerCase() }))
    .map(({ one, text }) => ({
      one,
      distance: text.startsWith(sought) && text !== sought && word.length > 2 ? 0.5 : distance(sought, text),
      // People rarely get the first letter wrong: fsh means fish, not zsh.
      isOther: text.startsWith(first) ? 0 : 1,
    }))
    .sort((a, b) => a.distance - b.distance || a.isOther - b.isOther);
  const best = ranked[0];
  return best && best.distance <= limit ? best.one : undefined;
}

/** The edit distance: how many letters must be added, removed, changed or swapped. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, place) => place);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = from[i - 1] === to[j - 1] ? 0 : 1;
      let least = Math.min(at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + change);
      // Before the first letter is none, which equals no letter.
      const swapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped) least = Math.min(least, at(before, j - 2) + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return at(row, to.length);
}

/** An entry of a row, which always has it. */
function at(row: readonly number[], place: number): number {
  return row[place] as number;
}

/** One word as a shell reads it back: as it is where nothing in it means something to a shell, else in quotes. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(word) ? word : shellQuote(word);
}

/** One word in quotes that a shell takes for nothing but its text. */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A word for a shell: unquoted if it has no special characters, else quoted. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(word) ? word : shellQuote(word);
}

/** A quoted word that a shell reads literally. */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A word for a shell: unquoted if it has no special characters, else quoted. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(word) ? word : shellQuote(word);
}

/** A quoted word that a shell reads literally. */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A list is a program and its arguments; a text is a shell command, run as it is. */
export function argvOf(command: string | readonly string[]): string[] {
  return typeof command === 'string' ? ['/bin/sh', '-c', command] : [...command];
}

/** The text of a shell command; undefined for a program with arguments. */
export function shellTextOf(command: readonly string[]): string | undefined {
  const [shell, flag, text] = command;
  return shell === '/bin/sh' && flag === '-c' ? text : undefined;
}

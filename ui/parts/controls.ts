/**
 * A text in which nothing turns the order of what one reads: characters that override or embed a direction are shown by
 * their number, those that a terminal would obey by their picture. A command that somebody approves must read as it runs.
 */
export function showControls(text: string): string {
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex -- these are what it is for
    /[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g,
    (character) => {
      const code = character.charCodeAt(0);
      if (code === 0x7f) return '\u2421';
      return code < 0x20 ? String.fromCharCode(0x2400 + code) : `[U+${code.toString(16).toUpperCase()}]`;
    },
  );
}

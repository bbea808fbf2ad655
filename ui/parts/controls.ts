/** As the command line has it: what turns the order of a text, hides in it, or a terminal would obey. Tabs and line breaks are what they are. */
const CONTROLS =
  // oxlint-disable-next-line no-control-regex -- these are what it is for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\r(?!\n)|[\u{e0000}-\u{e007f}]/gu;

/**
 * A text in which all is seen: characters that turn the order of what one reads, that nobody can see or that a terminal would
 * obey stand there by their number; of their pictures our fonts have none. A command that somebody approves must read as it runs.
 */
export function showControls(text: string): string {
  return text.replaceAll(CONTROLS, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}

/**
 * As in the command line: characters that change the direction of text, hide in it, or control a terminal. Tabs and
 * line breaks are allowed.
 */
const CONTROLS =
  // oxlint-disable-next-line no-control-regex -- these are what it is for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\r(?!\n)|[\u{e0000}-\u{e007f}]/gu;

/**
 * Makes all characters visible: those that change the direction of text, are invisible or control a terminal become
 * their code points, because our fonts have no glyphs for them. A command that somebody approves must read as it runs.
 */
export function showControls(text: string): string {
  return text.replaceAll(CONTROLS, showControl);
}

/** The same in parts, for a place that shows which of them stand for such a character. */
export function splitControls(text: string): { readonly text: string; readonly isControl: boolean }[] {
  const parts: { text: string; isControl: boolean }[] = [];
  let at = 0;
  for (const { 0: found, index } of text.matchAll(CONTROLS)) {
    if (index > at) parts.push({ text: text.slice(at, index), isControl: false });
    parts.push({ text: showControl(found), isControl: true });
    at = index + found.length;
  }
  if (at < text.length) parts.push({ text: text.slice(at), isControl: false });
  return parts;
}

function showControl(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}

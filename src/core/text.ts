/* Without schemas, because the command line and the dashboard load this. Those of texts are in `fields.ts`. */

/** The length of a text in bytes of UTF-8, the unit of limits on text. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** Foreign text in an error message: quoted, short, and without terminal control characters. */
export function quote(text: string): string {
  return printable(JSON.stringify(shorten(text, 80)));
}

/** Foreign text as one line, without colour codes. */
export function inOneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what it is for
  return text.replace(/\u001b\[[0-9;?]*[a-zA-Z]/g, '').replace(/\s+/g, ' ');
}

/** The first line of a text. */
export function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return end < 0 ? text : text.slice(0, end);
}

/** A text of at most `length` characters; an ellipsis replaces the rest. */
export function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** A list for a sentence; of a long one its first and last items, and the number of items in between. */
export function joinSome(items: readonly string[], separator: string): string {
  if (items.length <= 3 * SHOWN_AT_ENDS) return items.join(separator);
  const between = `… (${items.length - 2 * SHOWN_AT_ENDS} more) …`;
  return [...items.slice(0, SHOWN_AT_ENDS), between, ...items.slice(-SHOWN_AT_ENDS)].join(separator);
}

const SHOWN_AT_ENDS = 5;

/** As much of a text as fits into `maxBytes` of UTF-8; an ellipsis replaces the rest. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || byteLength(text) <= maxBytes) return text;
  const room = maxBytes - byteLength('…');
  let bytes = 0;
  let length = 0;
  for (const character of text) {
    bytes += byteLength(character);
    if (bytes > room) break;
    length += character.length;
  }
  return `${text.slice(0, length)}…`;
}

/** A text without terminal control characters. */
export function printable(text: string): string {
  return text.replace(/[^\x20-\x7e…]/gu, (character) => {
    const code = character.codePointAt(0) as number;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** Foreign text as one line of at most `length` characters, without characters that a line may not hold. */
export function oneLine(text: string, length: number): string {
  // oxlint-disable-next-line no-control-regex -- these are what it is for
  return shorten(text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim(), length);
}

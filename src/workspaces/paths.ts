/** The escapes that git uses in quoted names. */
const ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
};

/**
 * A path as text. UTF-8 stays as it is, with newlines and all. Other bytes cannot be text: such a path is written as git
 * quotes it, `"caf\351"`. A path that begins with a quote is quoted, too, so that `toBytes` always finds the way back.
 */
export function toText(path: Buffer): string {
  const text = path.toString();
  if (path[0] !== 34 && Buffer.from(text).equals(path)) return text;
  const quoted = [...path].map((byte) => {
    if (byte === 34 || byte === 92) return `\\${String.fromCharCode(byte)}`;
    return byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"${quoted.join('')}"`;
}

/** The bytes of a path that `toText` wrote. */
export function toBytes(path: string): Buffer {
  if (!/^".*"$/s.test(path)) return Buffer.from(path);
  const bytes: Buffer[] = [];
  for (const [part, octal, letter] of path.slice(1, -1).matchAll(/\\(?:([0-7]{3})|(.))|[^\\]+/gs)) {
    if (octal !== undefined) bytes.push(Buffer.from([Number.parseInt(octal, 8)]));
    else if (letter !== undefined) bytes.push(Buffer.from([ESCAPES[letter] ?? letter.charCodeAt(0)]));
    else bytes.push(Buffer.from(part));
  }
  return Buffer.concat(bytes);
}

/** A path in a folder, as the system takes it: names need not be UTF-8. */
export function inFolder(folder: string, path: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), path]);
}

/** Input for commands with `-z`. */
export function joinZero(paths: readonly (Buffer | string)[]): Buffer {
  const zero = Buffer.from([0]);
  return Buffer.concat(paths.flatMap((path) => [Buffer.from(path as Buffer), zero]));
}

/** A name as macOS compares it: there, these characters count for nothing. */
export function withoutUnseen(name: string): string {
  return name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '');
}

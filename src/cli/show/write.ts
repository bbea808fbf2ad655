// `import` of a builtin fetches all its exports, lazy ones too (7 ms for node:util); this does not.
const { writeSync } = process.getBuiltinModule('node:fs');

/** Writes to standard output. */
export function print(text: string): void {
  for (const notice of notices.splice(0)) warn(notice);
  write(1, text);
}

/** Writes to standard error, which never mixes with a result; where JSON is spoken, as one line `{"notice": …}`. */
export function warn(text: string): void {
  writeBeside(isJson ? toJson({ notice: text.trim().replace(/^troupe: /, '') }, undefined) : text);
}

/** Says what was done on the way to a result: to people at once; where JSON is spoken with the result, since beside an error stands nothing. */
export function warnOnTheWay(text: string): void {
  if (isJson) notices.push(text);
  else warn(text);
}

const notices: string[] = [];

/** Says what only people care about, who wonder why it takes a moment: a program would have to tell it from an error. */
export function warnPeople(text: string): void {
  if (!isJson) warn(text);
}

/** Writes to standard error as it stands. */
export function writeBeside(text: string): void {
  if (aside) aside(() => write(2, text));
  else write(2, text);
}

/** Whether everything is said as JSON from now on, also what stands beside the result. */
export function speakJson(wanted: boolean): void {
  isJson = wanted;
}

let isJson = false;

/** Whoever draws in place makes room for what is said meanwhile; with undefined there is no picture any more. */
export function stepAside(way: ((say: () => void) => void) | undefined): void {
  aside = way;
}

let aside: ((say: () => void) => void) | undefined;

/** Whoever has more to do than to write is told that nobody reads any more, and goes on; what it writes is then dropped. */
export function whenReaderGone(act: () => void): void {
  readerGone = act;
}

let readerGone: (() => void) | undefined;
const unread = new Set<number>();

/** JSON that no terminal obeys: what JSON.stringify leaves as it is, and a reader would not see, is escaped as well. */
export function toJson(value: unknown, indent: number | undefined): string {
  const text = JSON.stringify(value ?? null, undefined, indent);
  // oxlint-disable-next-line no-control-regex -- JSON has escaped all of these already
  return /^[\x00-\x7e]*$/.test(text) ? `${text}\n` : `${text.replace(HIDDEN, escapeUnits)}\n`;
}

function escapeUnits(character: string): string {
  return Array.from(character, (part) => [...Array(part.length).keys()].map((at) => part.charCodeAt(at)))
    .flat()
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
}

/** DEL, the C1 controls, and what changes the direction or hides in a text. */
const HIDDEN =
  /[\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Writes at once: `process.stdout` would cost 2.6 of the 10 ms that a command may take longer than an empty program. */
function write(fd: 1 | 2, text: string): void {
  if (unread.has(fd)) return;
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A terminal that was closed says EIO, as a broken disk does: only who also hears of the hangup can tell.
      if (readerGone && (code === 'EPIPE' || code === 'EIO')) {
        unread.add(fd);
        readerGone();
        return;
      }
      // The reader has gone, as `head` does when it has enough: there is nobody left to tell.
      if (code === 'EPIPE') process.exit(0);
      if (code !== 'EAGAIN') throw error;
      // Somebody made the pipe non-blocking and it is full: wait for the reader.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
}

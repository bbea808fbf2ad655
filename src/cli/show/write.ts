// `import` of a builtin fetches all its exports, lazy ones too (7 ms for node:util); this does not.
const { writeSync } = process.getBuiltinModule('node:fs');

/** Writes to standard output. */
export function print(text: string | Uint8Array): void {
  for (const notice of notices.splice(0)) warn(notice);
  write(1, text);
}

/** Writes to standard error, so that it never mixes with a result; with --json, as one line `{"notice": …}`. */
export function warn(text: string): void {
  writeBeside(isJson ? toJson({ notice: text.trim().replace(/^troupe: /, '') }, undefined) : text);
}

/**
 * Tells what happened on the way to a result: to people at once; with --json when the result is printed, because an
 * error must stand alone.
 */
export function warnOnTheWay(text: string): void {
  if (isJson) notices.push(text);
  else warn(text);
}

const notices: string[] = [];

/** Tells people something, such as why it takes long. With --json, a program would have to tell it from an error. */
export function warnPeople(text: string): void {
  if (!isJson) warn(text);
}

/** Writes to standard error unchanged. */
export function writeBeside(text: string): void {
  if (aside) aside(() => write(2, text));
  else write(2, text);
}

/** Sets whether everything is printed as JSON, also on standard error. */
export function speakJson(wanted: boolean): void {
  isJson = wanted;
}

let isJson = false;

/** Lets a live picture make room for other output; undefined when there is no picture any more. */
export function stepAside(way: ((say: () => void) => void) | undefined): void {
  aside = way;
}

let aside: ((say: () => void) => void) | undefined;

/** Sets what happens when the reader is gone. The program then goes on, and its output is dropped. */
export function whenReaderGone(act: () => void): void {
  readerGone = act;
}

let readerGone: (() => void) | undefined;
const unread = new Set<number>();

/** JSON that is safe on a terminal: control and invisible characters that JSON.stringify keeps are escaped too. */
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

/** DEL, the C1 controls, and characters that change the direction of text or hide in it. */
const HIDDEN =
  /[\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/**
 * Writes synchronously: `process.stdout` costs 2.6 ms, and a command may take only 10 ms longer than an empty program.
 */
function write(fd: 1 | 2, text: string | Uint8Array): void {
  if (unread.has(fd)) return;
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A closed terminal causes EIO, as a broken disk does. Only a program that also handles the hangup can tell.
      if (readerGone && (code === 'EPIPE' || code === 'EIO')) {
        unread.add(fd);
        readerGone();
        return;
      }
      // The reader is gone, as `head` is when it has enough lines: there is nobody left to tell.
      if (code === 'EPIPE') process.exit(0);
      if (code !== 'EAGAIN') throw error;
      // The pipe is non-blocking and full: wait for the reader.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
}

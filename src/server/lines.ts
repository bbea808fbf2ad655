import { TeamError } from '../core/errors.ts';

const NEWLINE = 0x0a;

/** Cuts a stream of bytes into lines; a line longer than the limit is refused before it is held. */
export function splitLines(maxBytes: number): (chunk: Buffer) => Generator<Buffer> {
  let pieces: Buffer[] = [];
  let held = 0;

  return function* (chunk) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, end);
      if (held + rest.length > maxBytes) throw tooLong(maxBytes);
      yield pieces.length === 0 ? rest : Buffer.concat([...pieces, rest]);
      pieces = [];
      held = 0;
      start = end + 1;
    }
    if (start === chunk.length) return;
    held += chunk.length - start;
    if (held > maxBytes) throw tooLong(maxBytes);
    pieces.push(chunk.subarray(start));
    // Byte by byte, a million pieces would cost far more than what they hold.
    if (pieces.length > 64) pieces = [Buffer.concat(pieces)];
  };
}

function tooLong(maxBytes: number): TeamError {
  return new TeamError('limit', `A line is longer than ${maxBytes} bytes`);
}

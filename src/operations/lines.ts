import { TeamError } from '../core/errors.ts';

const NEWLINE = 0x0a;

/** Rules for lines from untrusted clients. */
export interface LineRules {
  /** A longer line is refused before it is buffered. */
  readonly maxBytes: number;
  /** Whether bytes are valid text. */
  readonly isUtf8: (bytes: Uint8Array) => boolean;
}

const ANY: LineRules = { maxBytes: Infinity, isUtf8: () => true };

/** Splits a byte stream into lines. The rest of a chunk is copied, because the next chunk may overwrite it. */
export function splitLines(
  take: (line: string) => void,
  { maxBytes, isUtf8 }: LineRules = ANY,
): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let held = 0;

  return (chunk) => {
    let start = held === 0 ? takeWhole(chunk) : 0;
    for (let end = chunk.indexOf(NEWLINE, start); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, end);
      if (held + rest.length > maxBytes) throw tooLong(maxBytes);
      const line = pieces.length === 0 ? rest : Buffer.concat([...pieces, rest]);
      pieces = [];
      held = 0;
      start = end + 1;
      if (!isUtf8(line)) throw new TeamError('invalid', 'A line is not UTF-8');
      take(line.toString('utf8'));
    }
    if (start === chunk.length) return;
    held += chunk.length - start;
    if (held > maxBytes) throw tooLong(maxBytes);
    pieces.push(Buffer.from(chunk.subarray(start)));
    // If bytes come one by one, a million pieces would cost far more than their content.
    if (pieces.length > 64) pieces = [Buffer.concat(pieces)];
  };

  /** Nearly all chunks are whole lines; decoding them as one text halves the cost. Returns where the rest begins. */
  function takeWhole(chunk: Buffer): number {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    const whole = end === chunk.length ? chunk : chunk.subarray(0, end);
    if (end === 0 || end > maxBytes || !isUtf8(whole)) return 0;
    const text = whole.toString('utf8');
    let start = 0;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', start)) {
      take(text.slice(start, at));
      start = at + 1;
    }
    return end;
  }
}

function tooLong(maxBytes: number): TeamError {
  return new TeamError('limit', `A line is longer than ${maxBytes} bytes`);
}

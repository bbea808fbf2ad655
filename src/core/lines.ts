import { TeamError } from './errors.ts';

const NEWLINE = 0x0a;

/** Rules for lines from programs and clients that we don't trust. */
export interface LineRules {
  readonly maxBytes?: number;
  /** Takes what has come of a line that is too long; its rest counts as another line. Without this, it is refused. */
  readonly onLong?: (begun: string) => void;
  /** Whether bytes are valid text; without it, what is not becomes U+FFFD. */
  readonly isUtf8?: (bytes: Uint8Array) => boolean;
}

/** Takes the bytes of a stream as they come. */
export interface LineSplitter {
  push(chunk: Buffer): void;
  /** The stream is over: what is left is a line too. */
  end(): void;
}

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** Splits a byte stream into lines. The rest of a chunk is copied, because the next chunk may overwrite it. */
export function splitLines(take: (line: string) => void, rules: LineRules = {}): LineSplitter {
  const { maxBytes = Infinity, onLong, isUtf8 } = rules;
  let pieces: Uint8Array[] = [];
  let held = 0;

  return {
    push(chunk) {
      let start = held === 0 ? takeWhole(chunk) : 0;
      for (let end = chunk.indexOf(NEWLINE, start); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        hold(chunk.subarray(start, end));
        takeHeld();
        start = end + 1;
      }
      if (start === chunk.length) return;
      hold(new Uint8Array(chunk.subarray(start)));
      if (held > maxBytes) cut();
      // If bytes come one by one, a million pieces would cost far more than their content.
      if (pieces.length > 64) pieces = [join(pieces, held)];
    },
    end() {
      if (held > 0) takeHeld();
    },
  };

  /** Nearly all chunks are whole lines; decoding them as one text halves the cost. Returns where the rest begins. */
  function takeWhole(chunk: Buffer): number {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    const whole = end === chunk.length ? chunk : chunk.subarray(0, end);
    if (end === 0 || end > maxBytes || isUtf8?.(whole) === false) return 0;
    const text = whole.toString('utf8');
    let start = 0;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', start)) {
      take(text.slice(start, at));
      start = at + 1;
    }
    return end;
  }

  function hold(piece: Uint8Array): void {
    held += piece.length;
    if (held > maxBytes && !onLong) throw new TeamError('limit', `A line is longer than ${maxBytes} bytes`);
    pieces.push(piece);
  }

  function takeHeld(): void {
    const line = join(pieces, held);
    pieces = [];
    held = 0;
    if (isUtf8?.(line) === false) throw new TeamError('invalid', 'A line is not UTF-8');
    const text = DECODER.decode(line);
    if (line.length > maxBytes) onLong?.(text);
    else take(text);
  }

  function cut(): void {
    const begun = join(pieces, held);
    const end = lastCharacter(begun);
    held = begun.length - end;
    pieces = held === 0 ? [] : [begun.subarray(end)];
    onLong?.(DECODER.decode(begun.subarray(0, end)));
  }
}

/** Where the last character begins, if it has several bytes: some may still be missing. Otherwise the end. */
function lastCharacter(bytes: Uint8Array): number {
  const start = bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.length - start <= 4 && (bytes[start] ?? 0) >= 0xc0 ? start : bytes.length;
}

function join(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = pieces;
  if (first?.length === length) return first;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

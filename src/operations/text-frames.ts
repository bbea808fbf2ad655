/*
 * Encodes texts as WebSocket messages (RFC 6455, section 5). A library opens, reads, pings and closes WebSockets. But
 * for each message that it sends it makes about ten objects and two buffers, and writes each to a stream.
 */

const TEXT_FRAME = 0x81;
const MASKED = 0x80;
const MASK_BYTES = 4;
/** Lengths up to this are in the second byte. The next two numbers say that two or eight bytes of length follow. */
const SHORT = 125;
const TWO_BYTES = 126;
const EIGHT_BYTES = 127;
const MOST_IN_TWO = 0xffff;

/** Random bytes for masks, generated for a thousand messages at a time. */
const randomness = new Uint8Array(4096);
let used = randomness.length;

/** One buffer with each text as a message of one frame; messages of clients must be masked. */
export function textFrames(texts: readonly string[], { masked }: { readonly masked: boolean }): Buffer {
  let total = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    total += headerBytes(size, masked) + size;
  }
  const bytes = Buffer.allocUnsafe(total);
  let at = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    const body = at + headerBytes(size, masked);
    writeHeader(bytes, at, size, masked);
    bytes.write(text, body);
    if (masked) mask(bytes, body, size);
    at = body + size;
  }
  return bytes;
}

function headerBytes(size: number, masked: boolean): number {
  return (size <= SHORT ? 2 : size <= MOST_IN_TWO ? 4 : 10) + (masked ? MASK_BYTES : 0);
}

function writeHeader(bytes: Buffer, at: number, size: number, masked: boolean): void {
  const flag = masked ? MASKED : 0;
  bytes[at] = TEXT_FRAME;
  if (size <= SHORT) {
    bytes[at + 1] = flag | size;
  } else if (size <= MOST_IN_TWO) {
    bytes[at + 1] = flag | TWO_BYTES;
    bytes.writeUInt16BE(size, at + 2);
  } else {
    bytes[at + 1] = flag | EIGHT_BYTES;
    bytes.writeBigUInt64BE(BigInt(size), at + 2);
  }
}

/** Writes a new key and masks the body. Keeping the key in four variables takes half the time. */
function mask(bytes: Buffer, body: number, size: number): void {
  if (used === randomness.length) {
    crypto.getRandomValues(randomness);
    used = 0;
  }
  const [a, b, c, d] = [next(), next(), next(), next()];
  bytes[body - 4] = a;
  bytes[body - 3] = b;
  bytes[body - 2] = c;
  bytes[body - 1] = d;
  const end = body + size;
  for (let at = body; at < end; at += 4) {
    bytes[at] = (bytes[at] as number) ^ a;
    if (at + 1 < end) bytes[at + 1] = (bytes[at + 1] as number) ^ b;
    if (at + 2 < end) bytes[at + 2] = (bytes[at + 2] as number) ^ c;
    if (at + 3 < end) bytes[at + 3] = (bytes[at + 3] as number) ^ d;
  }
}

function next(): number {
  return randomness[used++] as number;
}

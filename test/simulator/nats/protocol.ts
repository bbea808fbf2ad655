/** What a client of NATS sends. */
export type Request =
  | { readonly op: 'CONNECT' | 'PING' | 'PONG' }
  | { readonly op: 'SUB'; readonly subject: string; readonly sid: string }
  | { readonly op: 'UNSUB'; readonly sid: string; readonly max: number }
  | ({ readonly op: 'PUB' } & Publication);

/** A message on its way. */
export interface Publication {
  readonly subject: string;
  readonly reply?: string | undefined;
  /** As sent: `NATS/1.0`, a line for each header, an empty line. */
  readonly headers?: Buffer | undefined;
  readonly data: Buffer;
}

const END = '\r\n';

/** Splits what a connection sends into requests (https://docs.nats.io/reference/reference-protocols/nats-protocol). */
export class RequestReader {
  #rest: Buffer = Buffer.alloc(0);

  read(bytes: Uint8Array): Request[] {
    const input = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : Buffer.from(bytes);
    const requests: Request[] = [];
    let at = 0;
    for (;;) {
      const end = input.indexOf(END, at);
      if (end < 0) break;
      const [op = '', ...words] = input.toString('latin1', at, end).split(/[ \t]+/);
      const size = op.endsWith('PUB') ? Number(words.at(-1)) + END.length : 0;
      const from = end + END.length;
      if (input.length < from + size) break;
      const request = toRequest(op.toUpperCase(), words, input.subarray(from, from + size - END.length));
      if (request) requests.push(request);
      at = from + size;
    }
    this.#rest = input.subarray(at);
    return requests;
  }
}

function toRequest(op: string, words: readonly string[], body: Buffer): Request | undefined {
  const [first = '', second = ''] = words;
  switch (op) {
    case 'CONNECT':
    case 'PING':
    case 'PONG':
      return { op };
    case 'SUB':
      return { op, subject: first, sid: words.at(-1) ?? '' };
    case 'UNSUB':
      return { op, sid: first, max: Number(second) };
    case 'PUB':
      return { op, subject: first, reply: words.length > 2 ? second : undefined, data: Buffer.from(body) };
    case 'HPUB': {
      const size = Number(words.at(-2));
      const reply = words.length > 3 ? second : undefined;
      const headers = size > 0 ? Buffer.from(body.subarray(0, size)) : undefined;
      const data = Buffer.from(body.subarray(size));
      return { op: 'PUB', subject: first, reply, headers, data };
    }
  }
  return undefined;
}

/** A message as its subscriber gets it. */
export function toMessage(sid: string, { subject, reply, headers, data }: Publication): Buffer {
  const to = `${subject} ${sid}${reply === undefined ? '' : ` ${reply}`}`;
  if (!headers) return Buffer.concat([Buffer.from(`MSG ${to} ${data.length}${END}`), data, Buffer.from(END)]);
  const sizes = `${headers.length} ${headers.length + data.length}`;
  return Buffer.concat([Buffer.from(`HMSG ${to} ${sizes}${END}`), headers, data, Buffer.from(END)]);
}

/** Headers that say how a request ended, such as `503`. */
export function statusHeaders(status: string, more: Readonly<Record<string, string | number>> = {}): Buffer {
  const lines = Object.entries(more).map(([name, value]) => `${name}: ${value}${END}`);
  return Buffer.from(`NATS/1.0 ${status}${END}${lines.join('')}${END}`);
}

/** The value of a header. */
export function headerOf(headers: Buffer | undefined, name: string): string | undefined {
  if (!headers) return undefined;
  const lines = headers.toString('latin1').split(END);
  return lines
    .find((line) => line.startsWith(`${name}:`))
    ?.slice(name.length + 1)
    .trim();
}

/** A pattern in parts. Most subjects differ from it before its first wildcard. */
interface Pattern {
  readonly beginning: string;
  /** None if it is just one subject. */
  readonly words: readonly string[] | undefined;
}

const MOST_PATTERNS = 10_000;
const patterns = new Map<string, Pattern>();

function toPattern(text: string): Pattern {
  const at = text.search(/[*>]/);
  const pattern = { beginning: text.slice(0, Math.max(0, at)), words: at < 0 ? undefined : text.split('.') };
  if (patterns.size > MOST_PATTERNS) patterns.clear();
  patterns.set(text, pattern);
  return pattern;
}

/** Whether a subject matches a pattern with `*` for one word and `>` for all that follow. */
export function isMatch(pattern: string, subject: string): boolean {
  if (pattern === subject) return true;
  const { beginning, words: wanted } = patterns.get(pattern) ?? toPattern(pattern);
  if (!wanted || !subject.startsWith(beginning)) return false;
  const words = subject.split('.');
  for (const [at, word] of wanted.entries()) {
    if (word === '>') return words.length > at;
    if (words[at] === undefined || (word !== '*' && word !== words[at])) return false;
  }
  return words.length === wanted.length;
}

import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { MsgHdrs } from '@nats-io/transport-node';
import { TeamError } from '../../core/errors.ts';
import type { TeamEvent } from '../../core/event.ts';
import type { Seq, Stored } from '../journal.ts';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** The header that names a body's compression; without it the body is plain JSON. */
export const ENCODING = 'Troupe-Encoding';
const DEFLATE = 'deflate';

/** Smaller bodies are sent faster than they are compressed; larger ones may not fit a message uncompressed. */
const PACK_BYTES = 64 * 1024;

/** What goes into one message. */
export interface Packed {
  readonly data: Uint8Array;
  readonly encoding?: string;
}

/** A batch, or a snapshot's body, as the bytes of a message. */
export async function pack(text: string): Promise<Packed> {
  const data = Buffer.from(text);
  if (data.length < PACK_BYTES) return { data };
  return { data: await deflate(data, { level: 1 }), encoding: DEFLATE };
}

/** The text of a body. An unknown encoding comes from a newer version. */
export async function unpack(data: Uint8Array, encoding: string | undefined, what: string): Promise<string> {
  if (!encoding) return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString();
  if (encoding === DEFLATE) return (await inflate(data)).toString();
  throw new TeamError(
    'unsupported',
    `${what} is encoded as ${JSON.stringify(encoding)}: a newer version of Troupe wrote it. Install that version here.`,
  );
}

/** A message of a stream, whichever way it was fetched. */
export interface Message {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers?: MsgHdrs | undefined;
}

/** The batch in a message. */
export async function decodeBatch(message: Message, team: string): Promise<Stored> {
  const what = `Batch ${message.seq} of team ${JSON.stringify(team)}`;
  try {
    const text = await unpack(message.data, message.headers?.get(ENCODING), what);
    return { seq: message.seq, events: JSON.parse(text) as TeamEvent[] };
  } catch (error) {
    if (error instanceof TeamError) throw error;
    throw corruptBatch(team, message.seq, 'it is not an entry of a journal', error);
  }
}

/** The error for a batch that cannot be read. */
export function corruptBatch(team: string, seq: Seq, why: string, cause?: unknown): TeamError {
  return new TeamError(
    'corrupt',
    `Batch ${seq} of team ${JSON.stringify(team)} on NATS cannot be read: ${why}. ` +
      'Restore its stream from a copy; other teams still work.',
    { cause },
  );
}

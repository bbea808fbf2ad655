import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Context } from 'hono';
import { wordError } from '../core/error-words.ts';
import type { Naming } from '../core/error-words.ts';
import { ERROR_CODES, TeamError } from '../core/errors.ts';
import { isTooDeep } from '../core/json.ts';
import type { Caller } from '../operations/caller.ts';
import type { Admitted, Refusal } from './guard.ts';
import { retryHeader } from './headers.ts';
import type { Visit } from './hub.ts';
import type { Place, Share } from './share.ts';

/** A client that may go on, and has a place. */
export interface Entered extends Admitted {
  readonly share: Share;
}

/** A request that may go on, and the signal with which it ends. */
export interface Visiting extends Entered, Pick<Visit, 'signal'> {}

/** Opens a WebSocket, or begins a request, on a connection; or says why there is no place for it. */
export type Enter = (socket: Socket, admitted: Admitted) => Place | Refusal;

/** What a route knows of a request besides the request. */
export interface Env {
  Bindings: {
    readonly incoming: IncomingMessage;
    readonly outgoing: ServerResponse;
    readonly admitted: Visiting | undefined;
  };
}

/** The credential that the guard found; it lets nobody through to a route that asks for it without. */
export function admittedOf(context: Context<Env>): Visiting {
  const { admitted } = context.env;
  if (!admitted) throw new TeamError('unauthenticated', 'A valid token is needed');
  return admitted;
}

/** Who asks. */
export function callerOf(context: Context<Env>): Caller {
  return admittedOf(context).caller;
}

/** The one address besides the dashboard's files that needs no credential: one gets it there. */
export const LOGIN = '/api/login';

const NAMING: Naming = { speaker: 'send the header X-Troupe-As with its name' };

/** An error as every face of HTTP says it. */
export function sendError(context: Context, error: TeamError): Response {
  const { code, facts } = error;
  const body = { error: { code, message: wordError(error, NAMING), ...(facts && { facts }) } };
  return context.json(body, statusOf(error) as 400, retryHeader(error));
}

function statusOf(error: TeamError): number {
  return error instanceof BodyTooLong ? 413 : ERROR_CODES[error.code].status;
}

/** The body as JSON; an empty one is an empty object. */
export async function readJson(context: Context<Env>, mostBytes: number): Promise<unknown> {
  const text = await readText(context, mostBytes);
  if (isTooDeep(text)) throw new TeamError('invalid', 'The body is nested too deep');
  const { admitted } = context.env;
  if (admitted) await turnOf(admitted.share, text.length);
  try {
    return text === '' ? {} : (JSON.parse(text) as unknown);
  } catch {
    throw new TeamError('invalid', 'The body is not JSON');
  }
}

/** Resolves when the share has some of its part left, of which this is taken. */
function turnOf(share: Share, length: number): Promise<void> {
  return new Promise((resolve) => {
    const begin = (): void => {
      share.spend(length);
      resolve();
    };
    if (share.isSpent) share.whenRenewed(begin);
    else begin();
  });
}

/** Of a body that says how long it is, the guard has seen that; one that comes in chunks is counted as it comes. */
async function readText(context: Context, mostBytes: number): Promise<string> {
  if (context.req.header('transfer-encoding') === undefined) return context.req.text();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const body: AsyncIterable<Uint8Array> | null = context.req.raw.body;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw new BodyTooLong(mostBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A body longer than anybody may send. */
class BodyTooLong extends TeamError {
  constructor(mostBytes: number) {
    super('limit', `A body has at most ${mostBytes} bytes`);
  }
}

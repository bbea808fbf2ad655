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

/** An authenticated client that has a place. */
export interface Entered extends Admitted {
  readonly share: Share;
}

/** An authenticated request, and the signal that ends it. */
export interface Visiting extends Entered, Pick<Visit, 'signal'> {}

/** Takes a place for a WebSocket or a request on a connection; or says why there is none. */
export type Enter = (socket: Socket, admitted: Admitted) => Place | Refusal;

/** What a route knows besides the request itself. */
export interface Env {
  Bindings: {
    readonly incoming: IncomingMessage;
    readonly outgoing: ServerResponse;
    readonly admitted: Visiting | undefined;
  };
}

/**
 * The client that the guard has authenticated. Throws if there is none, so a route that uses this is never open to
 * strangers.
 */
export function admittedOf(context: Context<Env>): Visiting {
  const { admitted } = context.env;
  if (!admitted) throw new TeamError('unauthenticated', 'A valid token is needed');
  return admitted;
}

/** The caller of a request. */
export function callerOf(context: Context<Env>): Caller {
  return admittedOf(context).caller;
}

/** Logging in is the only address, besides the dashboard's files, that needs no credential. */
export const LOGIN = '/api/login';

const NAMING: Naming = { speaker: 'send the header X-Troupe-As with the name of a member' };

/** The address exists, but not for this method. */
export class MethodNotAllowed extends TeamError {
  readonly allowed: readonly string[];

  constructor(method: string, allowed: readonly string[]) {
    super('invalid', `This address does not take ${method}: it takes ${allowed.join(', ')}`);
    this.allowed = allowed;
  }
}

/** An error in the form that all HTTP faces use. */
export function sendError(context: Context, error: TeamError): Response {
  const { code, facts } = error;
  const body = { error: { code, message: wordError(error, NAMING), ...(facts && { facts }) } };
  const allow = error instanceof MethodNotAllowed ? { allow: error.allowed.join(', ') } : {};
  return context.json(body, statusOf(error) as 400, { ...retryHeader(error), ...allow });
}

function statusOf(error: TeamError): number {
  if (error instanceof MethodNotAllowed) return 405;
  return error instanceof BodyTooLong ? 413 : ERROR_CODES[error.code].status;
}

/** The body as JSON; an empty one is an empty object. */
export async function readJson(context: Context<Env>, mostBytes: number): Promise<unknown> {
  const text = await readText(context, mostBytes);
  if (isTooDeep(text)) throw new TeamError('invalid', 'The body is nested too deeply');
  const { admitted } = context.env;
  if (admitted) await turnOf(admitted.share, text.length);
  try {
    return text === '' ? {} : (JSON.parse(text) as unknown);
  } catch {
    throw new TeamError('invalid', 'The body is not JSON');
  }
}

/** Resolves when the share has some of this turn's part left, and spends it. */
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

/** The guard has checked `content-length`. A chunked body has none, so its bytes are counted here. */
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

/** A body that exceeds the limit. */
class BodyTooLong extends TeamError {
  constructor(mostBytes: number) {
    super('limit', `A body has at most ${mostBytes} bytes`);
  }
}

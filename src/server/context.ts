import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import { ERROR_CODES, TeamError } from '../core/errors.ts';
import type { Caller } from '../operations/caller.ts';
import type { Admitted } from './guard.ts';
import { retryHeader } from './headers.ts';

/** What a route knows of a request besides the request. */
export interface Env {
  Bindings: { readonly incoming: IncomingMessage; readonly admitted: Admitted | undefined };
}

/** The credential that the guard found; it lets nobody through to a route that asks for it without. */
export function admittedOf(context: Context<Env>): Admitted {
  const { admitted } = context.env;
  if (!admitted) throw new TeamError('unauthenticated', 'A valid token is needed');
  return admitted;
}

/** Who asks. */
export function callerOf(context: Context<Env>): Caller {
  return admittedOf(context).caller;
}

/** An error as every face of HTTP says it. */
export function sendError(context: Context, error: TeamError, status?: number): Response {
  const { code, message } = error;
  return context.json({ error: { code, message } }, (status ?? ERROR_CODES[code].status) as 400, retryHeader(error));
}

/** The body as JSON; an empty one is an empty object. */
export async function readJson(context: Context): Promise<unknown> {
  const text = await context.req.text();
  try {
    return text === '' ? {} : (JSON.parse(text) as unknown);
  } catch {
    throw new TeamError('invalid', 'The body is not JSON');
  }
}

import type { ServerResponse } from 'node:http';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { isWaiting } from '../operations/frames.ts';
import { OPERATIONS } from '../operations/index.ts';
import type { Cursor, Operation } from '../operations/operation.ts';
import { admittedOf, readJson } from './context.ts';
import type { Env } from './context.ts';
import type { Hub } from './hub.ts';
import { beginWaiting } from './share.ts';
import type { Share } from './share.ts';

/** A route for every operation of the table. */
export function addOperationRoutes(app: Hono<Env>, hub: Hub): void {
  for (const operation of OPERATIONS) {
    const [method = '', path = ''] = operation.route.split(' ');
    const coerce = queryReader(operation);
    app.on(method, path, async (context) => {
      const input = { ...(await bodyOf(context, hub.limits.messageBytes)), ...coerce(context) };
      const params: Record<string, string> = context.req.param();
      for (const [name, value] of Object.entries(params)) {
        if (name in input && (input as Record<string, unknown>)[name] !== value) {
          throw new TeamError('invalid', `${name}: the address and the body differ`);
        }
      }
      const { outgoing } = context.env;
      const { caller, share, signal } = admittedOf(context);
      const whole = capWait({ ...input, ...params }, hub.limits.restWaitMs);
      const waits = isWaiting(whole);
      if (operation.long && !waits) await turnFor(hub, share, outgoing);
      const over = waits ? beginWaiting(share) : undefined;
      const call = hub.call(operation.name, {
        caller,
        input: whole,
        as: context.req.header('x-troupe-as'),
        commandId: context.req.header('idempotency-key'),
        traceparent: context.req.header('traceparent'),
        signal,
        whenAnswered: hub.whenAnswered((heard) => whenOut(outgoing, () => heard(outgoing.writableFinished))),
        more: (after) => context.header('link', nextLink(context.req.url, after)),
      });
      const result = await call.finally(over);
      // A call that waits takes its place only afterwards: while it waited it must not delay other answers.
      if (operation.long && waits) await turnFor(hub, share, outgoing);
      return context.json(result as object);
    });
  }
}

/**
 * Resolves when a long answer may be made. Its place is free again when it was sent or the client is gone. Throws if
 * the client disconnected in the meantime.
 */
export async function turnFor({ takeLongAnswer }: Hub, share: Share, outgoing: ServerResponse): Promise<void> {
  whenOut(outgoing, await takeLongAnswer(share));
  if (outgoing.closed) throw new TeamError('conflict', 'The client disconnected before the answer');
}

/** Calls back when the response was sent, or its client is gone. */
export function whenOut(outgoing: ServerResponse, fetched: () => void): void {
  if (outgoing.closed) fetched();
  else outgoing.once('close', fetched);
}

/** The link to the rest of a list, as in RFC 8288. */
function nextLink(url: string, after: Cursor): string {
  const { pathname, searchParams } = new URL(url);
  searchParams.set('after', String(after));
  return `<${pathname}?${searchParams.toString()}>; rel="next"`;
}

async function bodyOf(context: Context<Env>, mostBytes: number): Promise<object> {
  if (context.req.method === 'GET' || context.req.method === 'HEAD') return {};
  const body = await readJson(context, mostBytes);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new TeamError('invalid', 'The body must be a JSON object');
}

type Kind = 'number' | 'boolean' | 'array' | 'string';

/** Reads inputs from the query, where all values are text. */
function queryReader({ input, route }: Operation): (context: Context) => object {
  let byName: ReadonlyMap<string, Kind> | undefined;
  const takesQuery = /^(GET|DELETE) /.test(route);
  return (context) => {
    const queries = Object.entries(context.req.queries());
    if (queries.length > 0 && !takesQuery) throw new TeamError('invalid', 'Inputs of this address go into the body');
    if (queries.length === 0) return {};
    // Made at first use: for all operations together it took a sixth of the daemon's start.
    byName ??= kindsOf(input);
    return Object.fromEntries(queries.map(([name, values]) => [name, fromText(byName?.get(name), values)]));
  };
}

function kindsOf(input: Operation['input']): ReadonlyMap<string, Kind> {
  const { properties = {} } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  return new Map(Object.entries(properties).map(([name, property]) => [name, kindOf(property)]));
}

function kindOf(property: unknown): Kind {
  const { type, anyOf = [] } = property as { type?: string; anyOf?: { type?: string }[] };
  const types = [type, ...anyOf.map((one) => one.type)];
  if (types.includes('integer') || types.includes('number')) return 'number';
  if (types.includes('boolean')) return 'boolean';
  return types.includes('array') ? 'array' : 'string';
}

/** A value that does not fit its kind stays text: the schema then says what is wrong. */
function fromText(kind: Kind | undefined, values: string[]): unknown {
  if (kind === 'array') return values.flatMap((value) => value.split(','));
  const [value = '', ...others] = values;
  if (others.length > 0) return values;
  if (kind === 'number' && /^-?\d{1,15}(\.\d{1,10})?$/.test(value)) return Number(value);
  if (kind === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function capWait(input: object, most: number): object {
  const { wait } = input as { wait?: unknown };
  return typeof wait === 'number' && wait > most ? { ...input, wait: most } : input;
}

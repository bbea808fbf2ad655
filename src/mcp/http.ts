import { createHash } from 'node:crypto';
import { createMcpHandler, isJsonContentType, readRequestBody } from '@modelcontextprotocol/server';
import type { AuthInfo, McpServer } from '@modelcontextprotocol/server';
import { ERROR_CODES, TeamError } from '../core/errors.ts';
import { isTooDeep } from '../core/json.ts';
import { parse } from '../core/parse.ts';
import type { Caller } from '../operations/caller.ts';
import type { Services, TakePlace, TakeWait } from '../operations/operation.ts';
import { doubtHanded } from './handed.ts';
import { createTeamServer } from './server.ts';
import type { McpOptions } from './server.ts';
import { Greeting, openSession } from './session.ts';
import { Sessions } from './sessions.ts';
import type { HttpSession, SessionLimits } from './sessions.ts';

/**
 * The caller and its limits. `signal` ends what the caller waits for; a `TeamError` as its reason is sent to the
 * caller. `takePlace` says when a long answer may be made, `takeWait` whether a call may wait.
 */
export interface Asking {
  readonly caller: Caller;
  readonly signal?: AbortSignal;
  readonly takePlace?: TakePlace;
  readonly takeWait?: TakeWait;
}

/** Serves authenticated MCP requests. */
export interface McpHttp {
  readonly handle: (request: Request, asking: Asking) => Promise<Response>;
  /** How many sessions it remembers. */
  readonly sessions: number;
  close(): Promise<void>;
}

/** The limit of any request to the daemon. */
const BODY_BYTES = 1024 * 1024;

const SESSION_ID = 'mcp-session-id';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The team tools over streamable HTTP. Every request is served alone, with the rights of its own credential. So an idle
 * client costs almost nothing, and clients continue after the daemon restarts. A session only keeps conveniences: its
 * id grants nothing, and is refused with another credential.
 */
export function mcpHttp(services: Services, options: McpOptions & SessionLimits = {}): McpHttp {
  const sessions = new Sessions(options);
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const { kept, id, signal, takePlace, takeWait, traceparent } = (authInfo as AuthInfo).extra as unknown as Visitor;
      const server = createTeamServer(services, kept.session, {
        ...options,
        ...(traceparent !== null && { traceparent }),
        ...(signal && { signal }),
        ...(takePlace && { takePlace }),
        ...(takeWait && { takeWait }),
      });
      if (id !== undefined) track(kept, id, server);
      return server;
    },
    { maxRequestBodySize: BODY_BYTES },
  );

  async function handle(request: Request, { caller, signal, takePlace, takeWait }: Asking): Promise<Response> {
    if (request.method === 'DELETE') return endSession(request, caller);
    if (request.method !== 'POST') return refuse(405, 'This endpoint takes POST, and DELETE to end a session');
    const type = request.headers.get('content-type');
    if (!isJsonContentType(type)) return refuse(415, 'The body must be application/json');
    const body = await readJson(request);
    if (body instanceof Response) return body;
    const message = body as { method?: unknown; id?: unknown; params?: { requestId?: unknown } } | null;

    const begins = message?.method === 'initialize';
    const kept = begins ? begin(request, caller, newSessionId()) : findOrBegin(request, caller);
    if (kept instanceof Response) return kept;
    if (message?.method === 'notifications/cancelled') {
      // The call runs in its own server; closing that ends the work and the stream.
      await kept.calls.get(message.params?.requestId as string | number)?.close();
      doubtHanded(kept.session, message.params?.requestId);
      return new Response(null, { status: 202 });
    }
    const visitor: Visitor = {
      kept,
      id: message?.id as string | number | undefined,
      signal,
      takePlace,
      takeWait,
      traceparent: request.headers.get('traceparent'),
    };
    const response = await handler.fetch(withoutBody(request), {
      parsedBody: body,
      authInfo: { token: '', clientId: '', scopes: [], extra: { ...visitor } },
    });
    if (begins) response.headers.set(SESSION_ID, kept.session.id);
    return response;
  }

  function begin(request: Request, caller: Caller, id: string, shared = false): HttpSession | Response {
    try {
      const greeting = parse(Greeting, {
        teams: options.teams,
        ...greetingOf(request),
        session: id,
        began: beginningOf(id),
      });
      const kept = sessions.add(id, openSession(caller, greeting, { shared }), credentialOf(request, caller));
      return kept ?? refuse(503, 'Too many sessions are at work: try again in a moment');
    } catch (error) {
      if (error instanceof TeamError) return refuse(ERROR_CODES[error.code].status, error.message);
      throw error;
    }
  }

  function findOrBegin(request: Request, caller: Caller): HttpSession | Response {
    const given = request.headers.get(SESSION_ID);
    const credential = credentialOf(request, caller);
    // Newer clients have no session: clients with the same credential and greeting share one.
    const id = given ?? hash([credential, greetingOf(request)]);
    const found = sessions.find(id);
    if (found) return found.credential === credential ? found : notFound();
    if (given !== null && sessions.hasEnded(given)) return notFound();
    // The session was idle for long, or began under an earlier daemon. Guessing an id gains nothing.
    if (given === null || UUID.test(given)) return begin(request, caller, id, given === null);
    return notFound();
  }

  async function endSession(request: Request, caller: Caller): Promise<Response> {
    const id = request.headers.get(SESSION_ID) ?? '';
    if (sessions.find(id)?.credential !== credentialOf(request, caller)) return notFound();
    await sessions.end(id);
    return new Response(null, { status: 200 });
  }

  return {
    handle,
    get sessions() {
      return sessions.size;
    },
    close: async () => {
      await sessions.close();
      await handler.close();
    },
  };
}

/** The sender of a request, passed through the SDK to the place where its server is made. */
interface Visitor {
  readonly kept: HttpSession;
  readonly id: string | number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly takePlace: TakePlace | undefined;
  readonly takeWait: TakeWait | undefined;
  readonly traceparent: string | null;
}

/**
 * A new id of an HTTP session: a UUID of version 7, which contains the time. The client sends it with each request. So
 * a daemon that does not know the session, or forgot it, still knows when it began.
 */
function newSessionId(now = Date.now()): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`;
}

/** When a session began, in milliseconds, according to its id; 0 for other ids. */
function beginningOf(id: string): number {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : 0;
}

/** Lets the client cancel the running call by its request id. */
function track({ calls }: HttpSession, id: string | number, mcp: McpServer): void {
  calls.set(id, mcp);
  const onclose = (): boolean => calls.get(id) === mcp && calls.delete(id);
  Object.assign(mcp.server, { onclose });
}

/** What the headers ask for. They cannot widen what the credential allows. */
function greetingOf({ headers }: Request): Greeting {
  const teams = headers.get('x-troupe-teams');
  const team = headers.get('x-troupe-team');
  const as = headers.get('x-troupe-as');
  return {
    ...(teams !== null && { teams: teams === '1' }),
    ...(team !== null && { team }),
    ...(as !== null && { as }),
  };
}

function credentialOf({ headers }: Request, caller: Caller): string {
  return hash([headers.get('authorization'), headers.get('cookie'), caller]);
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/**
 * The same request for the SDK, which listens to its signal and never stops. A listener on the signal of the server's own request, which
 * knows that request, keeps both for ever: Node's registry of requests holds the signal until the request is gone. Each call left
 * 30 kB behind (measured).
 */
function withoutBody({ url, method, headers, signal }: Request): Request {
  return new Request(url, { method, headers, signal });
}

async function readJson(request: Request): Promise<unknown> {
  const body = await readRequestBody(request, BODY_BYTES);
  if (body.tooLarge) return refuse(413, `The body is larger than ${BODY_BYTES} bytes`);
  if (isTooDeep(body.text)) return refuse(400, 'The body is nested too deeply', -32700);
  try {
    return JSON.parse(body.text) as unknown;
  } catch {
    return refuse(400, 'The body is not JSON', -32700);
  }
}

function notFound(): Response {
  return refuse(404, 'Session not found', -32001);
}

function refuse(status: number, message: string, code = -32000): Response {
  const allow = status === 405 ? { allow: 'POST, DELETE' } : {};
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers: allow });
}

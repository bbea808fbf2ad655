import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { TeamError } from '../core/errors.ts';
import { GIVE_ANSWER, READ_ANSWER } from './answer-links.ts';
import type { Extras } from './app.ts';
import { limitConnections, limitUnanswered } from './connections.ts';
import { LOGIN } from './context.ts';
import type { Visiting } from './context.ts';
import { sessionCookie } from './cookie.ts';
import { isFollowedLink, openGuard, pathOf, refusal } from './guard.ts';
import type { Address, Admitted, Refusal } from './guard.ts';
import { retryHeader, SECURITY_HEADERS } from './headers.ts';
import type { Hub } from './hub.ts';
import { LOOK_MS } from './limits.ts';
import type { ListenOptions } from './listen-options.ts';
import { openPages } from './pages.ts';
import { openWebSockets, refuse as refuseUpgrade } from './websocket.ts';

/** How the server is reached, and what it serves besides the operations. */
export interface HttpOptions extends ListenOptions, Extras {
  readonly hub: Hub;
  /** The public origin of links that answer requests; without it, there are none. */
  readonly answers?: string | undefined;
  /** The dashboard's directory. */
  readonly ui?: string | undefined;
}

/** A server that listens. */
export interface HttpListening {
  /** Its origin: `http://127.0.0.1:43210`. */
  readonly url: string;
  /** Where it listens. Browsers may know it under another name: `0.0.0.0:43210`. */
  readonly address: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Answers a request that has passed the guard. */
type Listener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

/** Serves REST, WebSocket, server-sent events, MCP and the dashboard. */
export async function listenHttp(options: HttpOptions): Promise<HttpListening> {
  const { host = '127.0.0.1', port = 0, tls, hub } = options;
  const origins = checkReach(options);
  const addressAt = (bound: number): Address => ({
    ...addressOf(host, bound, { origins, isSecure: tls !== undefined }),
    answers: publicName(options.answers),
  });
  let address = addressAt(port);
  const guard = openGuard(hub, () => address);
  const pages = openPages(options.ui);
  const admitted = new WeakMap<IncomingMessage, Visiting>();
  let listening: Promise<Listener> | undefined;
  const server = createServer(hub, tls);
  const connections = limitConnections(server, hub);
  const isOneOfFew = limitUnanswered(hub.limits.unanswered);
  const webSockets = openWebSockets(hub, guard, connections);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => void handle(request, response));
  // By default Node answers a request with `Expect` before the guard has seen it.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => void handle(request, response));
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    if (!isOneOfFew(request.socket, response)) return;
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    const what = refusal('invalid', 'Only Expect: 100-continue is supported', 417);
    refuse(request, response, guard.checkAddress(request) ?? what);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    webSockets.upgrade(request, socket, head).catch((error: unknown) => {
      const { code, message } = hub.asTeamError(error);
      refuseUpgrade(socket, refusal(code, message));
    });
  });
  await listen(server, host, port);
  const bound = (server.address() as AddressInfo).port;
  address = addressAt(bound);

  return {
    url: LOOPBACK.includes(host) ? urlOf(host, bound, tls !== undefined) : (origins[0] as string),
    address: withPort(host, bound),
    port: bound,
    async close() {
      connections.stop();
      webSockets.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };

  /**
   * Loaded by the first request that passes the guard. Most daemons only serve their socket, and start with a quarter
   * less work.
   */
  async function openListener(): Promise<Listener> {
    const [{ getRequestListener }, { openApp }] = await Promise.all([import('@hono/node-server'), import('./app.ts')]);
    const app = openApp({ ...options, guard, pages, cookie: () => address.cookie });
    return getRequestListener(
      (request, { incoming, outgoing }) =>
        app.fetch(request, { incoming, outgoing, admitted: admitted.get(incoming as IncomingMessage) }),
      { overrideGlobalObjects: false },
    );
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isOneOfFew(request.socket, response)) return;
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    try {
      const verdict = await judge(request);
      if (verdict && 'status' in verdict) return refuse(request, response, verdict);
      // The client disconnected while its credential was checked.
      if (response.closed) return;
      if (verdict) {
        const place = connections.enter(request.socket, verdict);
        if ('status' in place) return refuse(request, response, place);
        const { signal, over } = hub.visit(verdict);
        response.once('close', over).once('close', place.leave);
        admitted.set(request, { ...verdict, share: place.share, signal });
      }
      // HTTP/1.0 has no `100 Continue`.
      if (request.headers.expect !== undefined && request.httpVersion !== '1.0') response.writeContinue();
      listening ??= openListener();
      const answer = await listening;
      // It answers errors itself, so whatever it throws comes after it has begun to answer.
      answer(request, response).catch((error: unknown) => {
        hub.report(error, 'http');
        response.destroy();
      });
    } catch (error) {
      const { code, message } = hub.asTeamError(error);
      refuse(request, response, refusal(code, message));
    }
  }

  async function judge(request: IncomingMessage): Promise<Admitted | Refusal | undefined> {
    return guard.checkAddress(request, isPage(request)) ?? admit(request);
  }

  /** Every request needs a credential, except for logging in, answers by link, and the dashboard's files, which contain no data. */
  async function admit(request: IncomingMessage): Promise<Admitted | Refusal | undefined> {
    const { method, headers } = request;
    const isLogin = pathOf(request) === LOGIN && method === 'POST' && headers.origin !== undefined;
    const isAnswer = options.answers !== undefined && isAnswerCall(request);
    const isRead = method === 'GET' || method === 'HEAD';
    if (isLogin || isAnswer || (isRead && isPage(request))) return checkBody(request, hub.limits.strangerBytes);
    const verdict = await guard.admit(request);
    return 'status' in verdict ? verdict : (checkBody(request, hub.limits.messageBytes) ?? verdict);
  }

  function isPage(request: IncomingMessage): boolean {
    return pages.find(pathOf(request), isFollowedLink(request)) !== undefined;
  }

  function checkBody({ headers }: IncomingMessage, mostBytes: number): Refusal | undefined {
    const length = Number(headers['content-length'] ?? 0);
    if (length > mostBytes) return refusal('limit', `A body has at most ${mostBytes} bytes`, 413);
    if (length === 0 && headers['transfer-encoding'] === undefined) return undefined;
    const [type = ''] = headers['content-type']?.split(';', 1) ?? [];
    return type.trim().toLowerCase() === 'application/json'
      ? undefined
      : refusal('invalid', 'A body must be application/json', 415);
  }
}

/** The page for answers proves itself by its link. A browser names the origin of the page. */
function isAnswerCall(request: IncomingMessage): boolean {
  const path = pathOf(request);
  return (
    (path === READ_ANSWER || path === GIVE_ANSWER) && request.method === 'POST' && request.headers.origin !== undefined
  );
}

function publicName(origin: string | undefined): Address['answers'] {
  return origin === undefined ? undefined : { origin, host: new URL(origin).host };
}

/** Refuses a request before a byte of its body is read. */
function refuse(request: IncomingMessage, response: ServerResponse, why: Refusal): void {
  const { status, code, message } = why;
  const body = JSON.stringify({ error: { code, message } });
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  // The connection of an unauthenticated client is closed: requests that it has pipelined are not answered.
  const mayStay = code === 'limit' || code === 'overloaded';
  if (hasBody || !mayStay) response.setHeader('connection', 'close');
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  response.writeHead(status, {
    ...retryHeader(why),
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  // Node leaves it out of an answer to HEAD.
  response.end(body);
}

/** The origins besides those of loopback. Throws if the options would let strangers in. */
function checkReach({ host = '127.0.0.1', tls, origins = [] }: HttpOptions): string[] {
  if (!LOOPBACK.includes(host) && (!tls || origins.length === 0)) {
    throw new TeamError(
      'invalid',
      `Listening on ${host} lets other machines in: give a TLS certificate and key, and the exact origins under which ` +
        'browsers reach it (troupe serve --tls-cert FILE --tls-key FILE --origin https://name:port). To use it from one other machine, forward a port with ssh instead',
    );
  }
  return origins.map((origin) => {
    if (tls && origin.startsWith('http:')) {
      throw new TeamError('invalid', `With a certificate, all origins must be https: ${origin} is not`);
    }
    if (URL.canParse(origin) && new URL(origin).origin === origin && /^https?:/.test(origin)) return origin;
    throw new TeamError('invalid', `${JSON.stringify(origin)} is not an origin such as https://name:port`);
  });
}

function addressOf(host: string, port: number, reach: { origins: string[]; isSecure: boolean }): Address {
  const { origins, isSecure } = reach;
  const scheme = isSecure ? 'https' : 'http';
  const own = LOOPBACK.includes(host) ? [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`] : [];
  return {
    cookie: sessionCookie(port, isSecure),
    hosts: new Set([...own, ...origins.map((origin) => new URL(origin).host)]),
    origins: new Set([...own.map((host) => `${scheme}://${host}`), ...origins]),
  };
}

function urlOf(host: string, port: number, isSecure: boolean): string {
  return `${isSecure ? 'https' : 'http'}://${withPort(host, port)}`;
}

function withPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function createServer(hub: Hub, tls: HttpOptions['tls']): Server {
  const options: ServerOptions = {
    headersTimeout: hub.limits.greetingMs,
    requestTimeout: hub.limits.requestMs,
    connectionsCheckingInterval: Math.min(LOOK_MS, hub.limits.greetingMs),
    keepAliveTimeout: hub.limits.idleMs,
    maxHeaderSize: 16 * 1024,
    // Our guard refuses a request without this header, and one with two.
    requireHostHeader: false,
    // Some clients offer an upgrade to HTTP/2. They are answered in HTTP/1.1.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
  };
  // Not imported: an import would make Node load all of fetch, a quarter of the daemon's start (measured).
  const server = tls
    ? process
        .getBuiltinModule('node:https')
        .createServer({ ...options, ...tls, handshakeTimeout: hub.limits.greetingMs })
    : process.getBuiltinModule('node:http').createServer(options);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const [status, message] = PARSE_ERRORS[String(error.code)] ?? [400, 'This is not HTTP'];
    if (socket.writable) refuseUpgrade(socket, refusal('invalid', message, status));
    else socket.destroy();
  });
  return server;
}

/** Errors of Node's HTTP parser. */
const PARSE_ERRORS: Readonly<Record<string, [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long'],
};

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(new TeamError('storage', `Cannot listen on ${host}, port ${port}: ${error.message}`, { cause: error })),
    );
    server.listen({ host, port }, resolve);
  });
}

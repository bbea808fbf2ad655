import { Hono } from 'hono';
import type { Context } from 'hono';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { parse } from '../core/parse.ts';
import type { Caller } from '../operations/caller.ts';
import type { TakePlace, TakeWait } from '../operations/operation.ts';
import { addAgentRoutes } from './agents.ts';
import { GIVE_ANSWER, openAnswerLinks, READ_ANSWER } from './answer-links.ts';
import { admittedOf, callerOf, LOGIN, MethodNotAllowed, readJson, sendError } from './context.ts';
import type { Env } from './context.ts';
import type { SessionCookie } from './cookie.ts';
import { isFollowedLink } from './guard.ts';
import type { Guard } from './guard.ts';
import type { Hub } from './hub.ts';
import { openApiDocument } from './openapi.ts';
import { answerPage } from './page-answer.ts';
import type { Page, Pages } from './pages.ts';
import { addOperationRoutes, whenOut } from './rest.ts';
import { beginWaiting } from './share.ts';
import { addEventRoute } from './sse.ts';

/** For a plain request to the address of WebSockets. */
const ONLY_WEBSOCKET = 'Only WebSocket is supported here: connect to it, with an upgrade request';

/** The client of an MCP request, and what the request may use. */
interface AskingMcp {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly takePlace: TakePlace;
  readonly takeWait: TakeWait;
}

/** What the server offers besides the operations. */
export interface Extras {
  /** Answers at `/mcp`, behind the same guard. */
  readonly mcp?: (request: Request, asking: AskingMcp) => Promise<Response>;
  /** The text at `/metrics`. */
  readonly metrics?: () => string | Promise<string>;
  /** What `/health` says. The daemon's status has the details. */
  readonly health?: () => 'ok' | 'degraded';
}

/** What the routes work with. */
export interface AppOptions extends Extras {
  readonly hub: Hub;
  readonly guard: Guard;
  readonly pages: Pages;
  readonly cookie: () => SessionCookie;
  /** The public origin of links that answer requests; without it, there are none. */
  readonly answers?: string | undefined;
}

const Login = z.strictObject({ code: z.string().max(128) });

/** All routes. Every request has passed the guard before it gets here. */
export function openApp({ hub, guard, pages, cookie, answers, mcp, metrics, health }: AppOptions): Hono<Env> {
  const app = new Hono<Env>();
  const pageOf = ({ req, env }: Context<Env>): Page | undefined => pages.find(req.path, isFollowedLink(env.incoming));
  // The guard has already checked this. If it reads a path differently than the router, the request must still be
  // refused.
  app.use((context, next) => {
    const { path } = context.req;
    const isAnswer = answers !== undefined && (path === READ_ANSWER || path === GIVE_ANSWER);
    if (path !== LOGIN && !isAnswer && !pageOf(context)) admittedOf(context);
    return next();
  });
  app.onError((error, context) => {
    // A client that disconnects in the middle of a body is no defect of ours, and gets no answer.
    const { destroyed, complete } = context.env.incoming;
    const isBrokenOff = destroyed && !complete;
    return sendError(
      context,
      isBrokenOff ? new TeamError('invalid', 'The body is incomplete') : hub.asTeamError(error),
    );
  });
  app.notFound((context) => {
    if (context.req.path === '/ws') return sendError(context, new TeamError('invalid', ONLY_WEBSOCKET));
    const allowed = methodsAt(app, context.req.path);
    if (allowed.length > 0) return sendError(context, new MethodNotAllowed(context.req.method, allowed));
    return sendError(
      context,
      new TeamError('not_found', 'There is nothing at this address: /api/openapi.json lists what exists'),
    );
  });

  app.get('/health', (context) => context.json({ status: health?.() ?? 'ok' }));
  app.get('/metrics', async (context) => {
    requireAdmin(context);
    return context.text((await metrics?.()) ?? '', 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
  });
  app.get('/api/openapi.json', (context) => context.json(openApiDocument()));
  app.post(LOGIN, async (context) => {
    const failed = (): ReturnType<Guard['failed']> => {
      context.env.outgoing.setHeader('connection', 'close');
      return guard.failed(context.env.incoming);
    };
    try {
      const { code } = parse(Login, await readJson(context, hub.limits.strangerBytes));
      const session = hub.credentials.logins.login(code);
      if (session !== undefined) return context.json({ scope: 'admin' }, 200, { 'set-cookie': cookie().set(session) });
    } catch (error) {
      // An unreadable body counts as a wrong code. Otherwise a client could send them without a limit.
      await failed();
      throw error;
    }
    const { message } = await failed();
    return sendError(context, new TeamError('unauthenticated', message));
  });
  app.post('/api/logout', (context) => {
    const session = cookie().read(context.env.incoming);
    if (session !== undefined) hub.credentials.logins.logout(session);
    return context.json({ scope: null }, 200, { 'set-cookie': cookie().clear() });
  });
  if (answers !== undefined) addAnswerRoutes(app, hub, guard);
  addAgentRoutes(app, hub);
  addEventRoute(app, hub);
  addOperationRoutes(app, hub);
  if (mcp) {
    app.all('/mcp', (context) => {
      const { caller, signal, share } = admittedOf(context);
      const takePlace: TakePlace = async () => {
        const fetched = await hub.takeLongAnswer(share);
        return { sent: () => whenOut(context.env.outgoing, fetched), over: fetched };
      };
      const takeWait: TakeWait = () => beginWaiting(share);
      return mcp(context.req.raw, { caller, signal, takePlace, takeWait });
    });
  }
  app.get('*', (context) => {
    const page = pageOf(context);
    if (!page) return context.notFound();
    // The names of built files contain a hash of their content. A browser that caches the files also caches the
    // compiled code.
    const caching = context.req.path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    const answer = answerPage(page, {
      encodings: context.req.header('accept-encoding'),
      known: context.req.header('if-none-match'),
    });
    const headers = { ...answer.headers, 'cache-control': caching };
    return answer.body ? context.body(answer.body, answer.status, headers) : context.body(null, answer.status, headers);
  });
  return app;
}

/** One sentence for a link that is wrong, used or too old: nobody learns which. */
const NO_LINK =
  'This link is not valid, was used, or has expired. What waits for you: troupe approve, or the dashboard';

function addAnswerRoutes(app: Hono<Env>, hub: Hub, guard: Guard): void {
  const links = openAnswerLinks(hub);
  for (const [path, act] of [
    [READ_ANSWER, (input: unknown) => links.read(input)],
    [GIVE_ANSWER, async (input: unknown) => (await links.give(input)) && { answered: true }],
  ] as const) {
    app.post(path, async (context) => {
      let done: object | undefined;
      try {
        done = await act(await readJson(context, hub.limits.strangerBytes));
      } catch (error) {
        // As with a wrong code: otherwise a client could try without a limit.
        await guard.failed(context.env.incoming);
        throw error;
      }
      if (done) return context.json(done);
      context.env.outgoing.setHeader('connection', 'close');
      await guard.failed(context.env.incoming);
      return sendError(context, new TeamError('not_found', NO_LINK));
    });
  }
}

/** The methods that an address takes; HEAD comes with GET. */
function methodsAt(app: Hono<Env>, path: string): string[] {
  const methods = app.routes.flatMap((route) => {
    if (route.method === 'ALL' || route.path.includes('*')) return [];
    const isIt = new RegExp(`^${route.path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`).test(path);
    return !isIt ? [] : route.method === 'GET' ? ['GET', 'HEAD'] : [route.method];
  });
  return [...new Set(methods)].sort();
}

function requireAdmin(context: Context<Env>): void {
  if (callerOf(context).scope !== 'admin') throw new TeamError('not_allowed', 'This needs the scope admin');
}

import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ERROR_CODES } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Caller } from '../operations/caller.ts';
import { isAnswerPath } from './answer-links.ts';
import type { SessionCookie } from './cookie.ts';
import type { Hub } from './hub.ts';
import { rateLimit } from './rate.ts';
import { keyOf } from './share.ts';

/** The server's names: exact `Host` values, exact `Origin` values, and the cookie for them. */
export interface Address {
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  readonly cookie: SessionCookie;
  /** The public name under which only the page for answers may be reached. */
  readonly answers?: { readonly host: string; readonly origin: string } | undefined;
}

/** A request that was admitted. */
export interface Admitted {
  /** The caller. */
  readonly caller: Caller;
  /** The key under which its credential is counted. */
  readonly key: string;
  /** Whether the credential is still valid. Only a session can tell; for a token this is undefined. */
  readonly isValid?: () => boolean;
}

/** Why a request was refused. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** After how long the client may try again, if that is known. */
  readonly retryMs?: number;
}

/** Names under which people put secrets into addresses. Logs and browser histories keep addresses. */
const SECRET_NAMES = /^(access_?token|api_?key|auth|authorization|bearer|code|key|password|secret|session|token)$/i;

/** Checks every request before anything else happens with it. */
export type Guard = ReturnType<typeof openGuard>;

export function openGuard(hub: Hub, address: () => Address) {
  const { limits } = hub;
  const requests = rateLimit(limits.requestsPerSecond, limits.requestBurst);
  const failures = rateLimit(limits.authFailuresPerMinute / 60, limits.authFailuresPerMinute);

  return {
    /**
     * Checks that the request names our host, and comes from our page or from no page. A link on any page may lead to a
     * file of the dashboard. These files contain no data, and their own requests come from our page.
     */
    checkAddress(request: IncomingMessage, isFile = false): Refusal | undefined {
      const refusal = findStranger(request, address(), isFile && isFollowedLink(request));
      if (refusal) hub.counters.rejected++;
      return refusal;
    },

    /** Finds the caller of a request by its credential, and applies the rate limit. */
    async admit(request: IncomingMessage): Promise<Admitted | Refusal> {
      const shown = credentialOf(request, address().cookie);
      if (shown && 'status' in shown) return shown;
      const caller = shown && (await callerOf(shown));
      if (!caller) return this.failed(request);
      const key = keyOf(shown.secret);
      if (requests.take(key)) return { caller, key, ...validityOf(shown) };
      const tooMany = `More than ${limits.requestsPerSecond} requests a second: wait a moment`;
      return { ...refusal('limit', tooMany), retryMs: 1_000 / limits.requestsPerSecond };
    },

    /** Counts a wrong credential. After too many of them from one address, each answer is delayed. */
    async failed(request: IncomingMessage): Promise<Refusal> {
      hub.counters.rejected++;
      // A client that is gone has no address. All of these are counted together.
      const isLate = !failures.take(String(request.socket.remoteAddress));
      if (isLate) await sleep(limits.authDelayMs, undefined, { ref: false });
      return refusal('unauthenticated', 'A valid token is needed: Authorization: Bearer …');
    },
  };

  /** When a session ends, by logout or after 8 hours, its open connections must end too. */
  function validityOf({ kind, secret }: Shown): Pick<Admitted, 'isValid'> {
    return kind === 'cookie' ? { isValid: () => hub.credentials.logins.callerOf(secret) !== undefined } : {};
  }

  async function callerOf({ kind, secret }: Shown): Promise<Caller | undefined> {
    return kind === 'bearer' ? hub.credentials.verify(secret) : hub.credentials.logins.callerOf(secret);
  }
}

interface Shown {
  readonly kind: 'bearer' | 'cookie';
  readonly secret: string;
}

function credentialOf(request: IncomingMessage, cookie: SessionCookie): Shown | Refusal | undefined {
  const { authorization, origin, 'sec-fetch-site': site, 'x-troupe-csrf': csrf } = request.headers;
  if (authorization !== undefined) {
    const [, secret] = /^Bearer ([\x21-\x7e]{1,1024})$/i.exec(authorization) ?? [];
    return secret === undefined ? undefined : { kind: 'bearer', secret };
  }
  const secret = cookie.read(request);
  if (secret === undefined) return undefined;
  // A browser sends no Origin when its own page reads, and marks the request as `same-origin` instead.
  if (origin === undefined && site !== 'same-origin') {
    return refusal('not_allowed', 'A request with a cookie must come from the dashboard');
  }
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead || csrf === '1') return { kind: 'cookie', secret };
  return refusal('not_allowed', 'A change with a cookie needs the header x-troupe-csrf: 1');
}

/** Whether a person followed a link in a new page. A script that sends such a request cannot read the answer. */
export function isFollowedLink({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

function findStranger(
  request: IncomingMessage,
  { hosts, origins, answers }: Address,
  isLink: boolean,
): Refusal | undefined {
  const open = isAnswerPath(pathOf(request)) ? answers : undefined;
  const [given = '', ...otherHosts] = valuesOf(request, 'host');
  const host = given.toLowerCase();
  if (otherHosts.length > 0 || !(hosts.has(host) || host === open?.host)) {
    return refusal('not_allowed', 'The Host header does not name this server');
  }
  const [origin, ...otherOrigins] = valuesOf(request, 'origin');
  if (otherOrigins.length > 0 || (origin !== undefined && !origins.has(origin) && origin !== open?.origin)) {
    return refusal('not_allowed', 'Pages of other origins are not allowed');
  }
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isLink) {
    return refusal('not_allowed', 'Pages of other sites are not allowed');
  }
  if (valuesOf(request, 'authorization').length > 1) return refusal('invalid', 'Send only one credential');
  const url = urlOf(request);
  if (!/^\/(?!\/)/.test(url)) return refusal('invalid', 'The request must name a path');
  const query = new URLSearchParams(url.slice(pathOf(request).length + 1));
  if ([...query.keys()].some((name) => SECRET_NAMES.test(name))) {
    return refusal('invalid', 'Never put a secret in an address, where others can read it: send a header');
  }
  return undefined;
}

/** The path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  return urlOf(request).replace(/\?.*$/s, '');
}

/** Only requests that a client made may have none; those that a server gets have one. */
function urlOf({ url }: IncomingMessage): string {
  return url as string;
}

/** All values of a header. Node keeps only the first value of headers that may occur once. */
function valuesOf(request: IncomingMessage, name: string): string[] {
  const { rawHeaders } = request;
  return rawHeaders.filter((_, at) => at % 2 === 1 && (rawHeaders[at - 1] as string).toLowerCase() === name);
}

/** A refusal with the status of its code. */
export function refusal(code: ErrorCode, message: string, status: number = ERROR_CODES[code].status): Refusal {
  return { status, code, message };
}

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { ADMIN } from '../../src/operations/caller.ts';
import { ANSWER_PAGE, READ_ANSWER } from '../../src/server/answer-links.ts';
import { sessionCookie } from '../../src/server/cookie.ts';
import { isFollowedLink, openGuard } from '../../src/server/guard.ts';
import type { Address, Admitted, Refusal } from '../../src/server/guard.ts';
import { LIMITS } from '../../src/server/limits.ts';
import { shareStage } from './stage.ts';
import type { HeaderLines } from './wire.ts';

const HOST = ['host', 'localhost:80'] as const;
const OWN: Address = {
  hosts: new Set(['localhost:80', '127.0.0.1:80']),
  origins: new Set(['http://localhost:80']),
  cookie: sessionCookie(80, false),
};
const WITH_ANSWERS: Address = { ...OWN, answers: { host: 'public.example', origin: 'https://public.example' } };

/** A request as Node hands it to the server. */
function requestOf(first: string, lines: HeaderLines): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  const [method, url] = first.split(' ');
  Object.assign(request, { method, url, rawHeaders: lines.flat() });
  for (const [name, value] of lines) request.headers[name.toLowerCase()] ??= value;
  return request;
}

describe('the guard', () => {
  const shared = shareStage({ limits: { authDelayMs: 0, requestsPerSecond: 0, requestBurst: 2 } });
  const check = (address: Address, first: string, lines: HeaderLines, isFile = false): number | undefined =>
    openGuard(shared().hub, () => address).checkAddress(requestOf(first, lines), isFile)?.status;

  test.each<[what: string, status: number | undefined, first: string, lines: HeaderLines]>([
    ['our host', undefined, 'GET /', [HOST]],
    ['our host in capitals', undefined, 'GET /', [['HOST', 'LOCALHOST:80']]],
    ['no host', 403, 'GET /', []],
    ['another host', 403, 'GET /', [['host', 'evil.example']]],
    ['our host twice', 403, 'GET /', [HOST, HOST]],
    ['the public host, without one', 403, `POST ${READ_ANSWER}`, [['host', 'public.example']]],
    ['our origin', undefined, 'POST /', [HOST, ['origin', 'http://localhost:80']]],
    ['another origin', 403, 'POST /', [HOST, ['origin', 'http://evil.example']]],
    ['our origin twice', 403, 'POST /', [HOST, ['origin', 'http://localhost:80'], ['Origin', 'http://localhost:80']]],
    ['our page', undefined, 'GET /', [HOST, ['sec-fetch-site', 'same-origin']]],
    ['no page', undefined, 'GET /', [HOST, ['sec-fetch-site', 'none']]],
    ['a page of another site', 403, 'GET /', [HOST, ['sec-fetch-site', 'cross-site']]],
    ['one credential', undefined, 'GET /', [HOST, ['authorization', 'a']]],
    ['two credentials', 400, 'GET /', [HOST, ['authorization', 'a'], ['Authorization', 'a']]],
    ['another header twice', undefined, 'GET /', [HOST, ['x', 'host'], ['x', 'authorization'], ['y', 'z']]],
    ['no path', 400, 'OPTIONS *', [HOST]],
    ['a path of another host', 400, 'GET //evil.example', [HOST]],
    ['a query', undefined, 'GET /?after=1&team=token', [HOST]],
    ['a secret in the query', 400, 'GET /?after=1&Token=x', [HOST]],
    ['a secret first in the query', 400, 'GET /?token=x', [HOST]],
    ['a secret after a second question mark', 400, 'GET /?a=?&api_key=x', [HOST]],
  ])('answers a request with %s by %s', (_what, status, first, lines) => {
    const before = shared().hub.counters.rejected;
    const refusal = openGuard(shared().hub, () => OWN).checkAddress(requestOf(first, lines));
    expect(refusal?.status).toBe(status);
    // It says what is wrong.
    if (refusal) expect(refusal.message).toMatch(/\b(not|only|must|Never)\b/);
    expect(shared().hub.counters.rejected - before).toBe(status === undefined ? 0 : 1);
  });

  test('lets a link from another site lead to a file only', () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    const follow = (first: string, more: Record<string, string> = {}, isFile = true): number | undefined =>
      check(OWN, first, [HOST, ...Object.entries({ ...link, ...more })], isFile);
    expect(follow('GET /')).toBeUndefined();
    expect(follow('GET /', {}, false)).toBe(403);
    expect(follow('POST /')).toBe(403);
    expect(follow('GET /', { 'sec-fetch-mode': 'cors' })).toBe(403);
    expect(follow('GET /', { 'sec-fetch-dest': 'iframe' })).toBe(403);
    expect(follow('GET /', { origin: 'http://evil.example' })).toBe(403);
    // By default, no address is that of a file.
    const request = requestOf('GET /', [HOST, ...Object.entries(link)]);
    expect(openGuard(shared().hub, () => OWN).checkAddress(request)?.status).toBe(403);
    expect(isFollowedLink(request)).toBe(true);
  });

  test('knows the public name for the page of answers only', () => {
    const lines = [
      ['host', 'PUBLIC.example'],
      ['origin', 'https://public.example'],
    ] as const;
    expect(check(WITH_ANSWERS, `POST ${READ_ANSWER}?x=1`, lines)).toBeUndefined();
    expect(check(WITH_ANSWERS, `POST ${READ_ANSWER}`, [HOST, ['origin', 'https://public.example']])).toBeUndefined();
    expect(check(WITH_ANSWERS, `POST ${READ_ANSWER}`, [HOST, ['origin', 'https://evil.example']])).toBe(403);
    expect(check(WITH_ANSWERS, `GET ${ANSWER_PAGE}`, [['host', 'public.example']])).toBeUndefined();
    expect(check(WITH_ANSWERS, `GET ${ANSWER_PAGE}`, [['host', 'evil.example']])).toBe(403);
    expect(check(WITH_ANSWERS, 'GET /', [['host', 'public.example']])).toBe(403);
    expect(check(WITH_ANSWERS, 'GET /', [HOST, ['origin', 'https://public.example']])).toBe(403);
  });

  test('admits a token, a session of our page, and a change with the header of our page', async () => {
    const { hub, token } = shared();
    const guard = openGuard(hub, () => OWN);
    const admit = async (first: string, ...lines: HeaderLines): Promise<number | Admitted> => {
      const verdict: Admitted | Refusal = await openGuard(hub, () => OWN).admit(requestOf(first, [HOST, ...lines]));
      return 'status' in verdict ? verdict.status : verdict;
    };
    const bearer = ['authorization', `Bearer ${token}`] as const;
    const admitted = { caller: ADMIN, key: expect.any(String) as string };
    expect(await admit('GET /', bearer)).toEqual(admitted);
    expect(await admit('POST /', ['authorization', `bearer ${token}`])).toEqual(admitted);
    for (const wrong of [`Bearer ${token}x`, `Bearer ${token} x`, token, `Basic ${token}`, 'Bearer ']) {
      expect(await admit('GET /', ['authorization', wrong])).toBe(401);
    }
    const session = hub.credentials.logins.login(hub.credentials.logins.code()) ?? '';
    const cookie = ['cookie', `troupe_session_80=${session}`] as const;
    const origin = ['origin', 'http://localhost:80'] as const;
    for (const first of ['GET /', 'HEAD /']) {
      expect(await admit(first, cookie, origin)).toMatchObject(admitted);
      expect(await admit(first, cookie, ['sec-fetch-site', 'same-origin'])).toMatchObject(admitted);
      expect(await admit(first, cookie)).toBe(403);
      expect(await admit(first, cookie, ['sec-fetch-site', 'none'])).toBe(403);
    }
    expect(await admit('POST /', cookie, origin)).toBe(403);
    expect(await admit('POST /', cookie, origin, ['x-troupe-csrf', '0'])).toBe(403);
    const change = await admit('POST /', cookie, origin, ['x-troupe-csrf', '1']);
    expect(change).toMatchObject(admitted);
    expect(await admit('GET /', origin)).toBe(401);
    const message = 'A valid token is needed: Authorization: Bearer …';
    expect(await guard.admit(requestOf('GET /', [HOST]))).toEqual({ status: 401, code: 'unauthenticated', message });
    for (const [first, what] of [
      ['GET /', 'must come from the dashboard'],
      ['POST /', 'needs the header x-troupe-csrf: 1'],
    ] as const) {
      const lines = first === 'GET /' ? [HOST, cookie] : [HOST, cookie, origin];
      expect(await guard.admit(requestOf(first, lines))).toMatchObject({
        message: expect.stringContaining(what) as string,
      });
    }
    // A token beside the cookie counts, and is wrong.
    expect(await admit('GET /', cookie, origin, ['authorization', 'Bearer wrong'])).toBe(401);
    const isValid = (change as Admitted).isValid;
    expect(isValid?.()).toBe(true);
    hub.credentials.logins.logout(session);
    expect(isValid?.()).toBe(false);
    expect(await admit('GET /', cookie, origin)).toBe(401);
    // Two at once, then none.
    const take = async (): Promise<object> => guard.admit(requestOf('GET /', [HOST, bearer]));
    expect([await take(), await take(), await take()]).toMatchObject([admitted, admitted, { status: 429 }]);
  });

  test('does not keep the daemon running while it delays an answer', async () => {
    const guard = openGuard(
      { ...shared().hub, limits: { ...LIMITS, authFailuresPerMinute: 0, authDelayMs: 1 } },
      () => OWN,
    );
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const late = guard.failed(requestOf('GET /', [HOST]));
    expect(timers()).toBe(before);
    expect(await late).toMatchObject({ status: 401 });
  });
});

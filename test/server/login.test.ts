import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { sessionCookie } from '../../src/server/cookie.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openWebSocket, sendBytes, upgradeText } from './wire.ts';

const login = ({ url }: Stage, code: string, headers: Record<string, string> = { origin: url }): Promise<Response> =>
  fetch(`${url}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ code }),
  });

/** A code as the command line gets it: in the fragment of the address, which browsers do not send. */
async function newCode({ act, url }: Stage): Promise<string> {
  const address = new URL((await act('ui.login', {})).url);
  expect(address.origin).toBe(url);
  expect(address.search).toBe('');
  return address.hash.slice('#code='.length);
}

async function loggedIn(stage: Stage): Promise<string> {
  const answer = await login(stage, await newCode(stage));
  expect(answer.status).toBe(200);
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

describe('logging in to the dashboard', () => {
  test('gives a cookie that only the daemon gets and no script can read', async () => {
    const stage = await setStage();
    const answer = await login(stage, await newCode(stage));
    const [cookie, ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ');
    expect(cookie).toMatch(new RegExp(`^troupe_session_${stage.port}=[A-Za-z0-9_-]{43}$`));
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=28800', 'Path=/', 'SameSite=Strict']);
    expect(JSON.stringify(await answer.json())).not.toContain(cookie?.split('=')[1]);
  });

  test('works once per code', async () => {
    const stage = await setStage();
    const code = await newCode(stage);
    const answers = await Promise.all(Array.from({ length: 10 }, () => login(stage, code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(9);
  });

  test('is refused for pages of another origin, and without an origin', async () => {
    const stage = await setStage();
    const code = await newCode(stage);
    for (const [headers, status] of [
      [{ origin: 'http://evil.example' }, 403],
      [{ origin: 'null' }, 403],
      [{}, 401],
      [{ origin: stage.url, 'content-type': 'text/plain' }, 415],
      [{ origin: stage.url, 'sec-fetch-site': 'cross-site' }, 403],
    ] as const) {
      expect((await login(stage, code, headers)).status).toBe(status);
    }
    expect((await login(stage, code)).status).toBe(200);
  });

  test.each(['', 'x', 'x'.repeat(43), 'x'.repeat(200)])('refuses the made-up code %s', async (code) => {
    const stage = await setStage();
    expect((await login(stage, code)).status).toBe(code.length > 128 ? 400 : 401);
  });
});

test('the cookie is found beside others, and alone; over TLS it is sent over TLS only', () => {
  const cookie = sessionCookie(80, false);
  const read = (text?: string): string | undefined =>
    cookie.read({ headers: text === undefined ? {} : { cookie: text } } as IncomingMessage);
  expect(read()).toBeUndefined();
  expect(read('other=1; troupe_session_80=abc ; troupe_session_8080=no')).toBe('abc');
  expect(read('troupe_session_8080=no; xtroupe_session_80=no')).toBeUndefined();
  expect(read('troupe_session_80=')).toBeUndefined();
  expect(read('troupe_session_80=abc; troupe_session_80=abd')).toBeUndefined();
  expect([cookie.set('abc'), cookie.clear()]).toEqual([
    'troupe_session_80=abc; HttpOnly; SameSite=Strict; Path=/; Max-Age=28800',
    'troupe_session_80=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0',
  ]);
  expect(sessionCookie(443, true).set('abc')).toContain('; Path=/; Secure; ');
});

describe('a request with the cookie', () => {
  const send = async ({ url }: Stage, cookie: string, method: string, headers: Record<string, string>) =>
    (
      await fetch(`${url}/api/teams`, {
        method,
        headers: { cookie, 'content-type': 'application/json', ...headers },
        ...(method === 'POST' && { body: JSON.stringify({ name: `team-${crypto.randomUUID().slice(0, 8)}` }) }),
      })
    ).status;

  test('can read, from our page', async () => {
    const stage = await setStage();
    const cookie = await loggedIn(stage);
    expect(await send(stage, cookie, 'GET', { origin: stage.url })).toBe(200);
    // A browser sends no Origin when a page reads from its own site.
    expect(await send(stage, cookie, 'GET', { 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await send(stage, cookie, 'GET', { 'sec-fetch-site': 'none' })).toBe(403);
    expect(await send(stage, cookie, 'GET', {})).toBe(403);
    expect(await send(stage, cookie, 'GET', { origin: 'http://evil.example' })).toBe(403);
  });

  test('can change things only with the header that no foreign page can send', async () => {
    const stage = await setStage();
    const cookie = await loggedIn(stage);
    const before = await stage.ends();
    expect(await send(stage, cookie, 'POST', { origin: stage.url })).toBe(403);
    expect(await send(stage, cookie, 'POST', { origin: stage.url, 'x-troupe-csrf': '0' })).toBe(403);
    expect(await send(stage, cookie, 'POST', { 'x-troupe-csrf': '1' })).toBe(403);
    expect(await stage.ends()).toEqual(before);
    const answer = await fetch(`${stage.url}/api/teams`, { method: 'POST', headers: { cookie, origin: stage.url } });
    const message = 'A change with a cookie needs the header x-troupe-csrf: 1';
    expect(await answer.json()).toEqual({ error: { code: 'not_allowed', message } });
    expect(await send(stage, cookie, 'POST', { origin: stage.url, 'x-troupe-csrf': '1' })).toBe(200);
  });

  test('is refused if it also has a wrong token or a second cookie', async () => {
    const stage = await setStage();
    const cookie = await loggedIn(stage);
    const headers = { origin: stage.url };
    expect(await send(stage, cookie, 'GET', { ...headers, authorization: 'Bearer wrong' })).toBe(401);
    expect(await send(stage, `${cookie}; ${cookie.slice(0, -1)}`, 'GET', headers)).toBe(401);
  });

  test('can open a WebSocket from our page only', async () => {
    const stage = await setStage();
    const cookie = await loggedIn(stage);
    const wire = await openWebSocket(stage.url, { cookie, origin: stage.url });
    expect(await wire.ask({ type: 'team.list' })).toMatchObject({ type: 'result' });
    await expect(openWebSocket(stage.url, { cookie })).rejects.toThrow('401');
    await expect(openWebSocket(stage.url, { cookie, origin: 'http://evil.example' })).rejects.toThrow('403');
  });

  test('is refused after a logout, which also ends its connections', async () => {
    const stage = await setStage();
    const cookie = await loggedIn(stage);
    const other = await loggedIn(stage);
    const wire = await openWebSocket(stage.url, { cookie, origin: stage.url });
    const otherWire = await openWebSocket(stage.url, { cookie: other, origin: stage.url });
    const headers = { cookie, origin: stage.url, 'x-troupe-csrf': '1' };
    const answer = await fetch(`${stage.url}/api/logout`, { method: 'POST', headers });
    expect(answer.headers.get('set-cookie')).toContain('Max-Age=0');
    expect(await wire.closed).toMatchObject({ code: 1008 });
    expect(await send(stage, cookie, 'GET', { origin: stage.url })).toBe(401);
    expect(await otherWire.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
  });
});

/** What a browser sends when a person follows a link from another site. */
const LINK = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

test('a link from another site leads to a file of the dashboard and to nothing else', async () => {
  const stage = await setStage();
  const follow = async (path: string, headers: Record<string, string> = {}): Promise<number> => {
    // Not `fetch`, which sets the `sec-fetch` headers itself.
    const request = get(`${stage.url}${path}`, { headers: { ...LINK, ...headers } });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    answer.resume();
    return answer.statusCode ?? 0;
  };
  expect(await follow('/')).toBe(200);
  expect(await follow('/t/demo/m/lead')).toBe(200);
  expect(await follow('/', { 'sec-fetch-dest': 'iframe' })).toBe(403);
  expect(await follow('/', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' })).toBe(403);
  expect(await follow('/api/teams', { cookie: await loggedIn(stage) })).toBe(403);
  // The page says that the address does not exist, and leads back; programs get the usual error.
  const typed = { 'sec-fetch-site': 'none', cookie: await loggedIn(stage) };
  expect(await follow('/nope/xx', typed)).toBe(404);
  expect(await follow('/nope/%zz')).toBe(404);
  expect(await follow('/api/nope', typed)).toBe(403);
  expect(await follow('/%61pi/teams')).toBe(401);
  expect(await follow('/nope/xx', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' })).toBe(403);
  expect(await follow('/', { origin: 'http://evil.example' })).toBe(403);
  const upgrade = upgradeText('/ws', [
    ['host', new URL(stage.url).host],
    ['authorization', `Bearer ${stage.token}`],
    ...Object.entries(LINK),
  ]);
  expect(await sendBytes(stage.port, upgrade)).toMatchObject({ status: 403 });
});

import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { TeamError } from '../../src/core/errors.ts';
import { SECURITY_HEADERS } from '../../src/server/headers.ts';
import { LIMITS } from '../../src/server/limits.ts';
import { makeCertificate } from '../certificate.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { setHeldStage } from './held-stage.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { startServer } from './start.ts';
import { openUnix, openWebSocket, requestText, sendBytes } from './wire.ts';
import type { HeaderLines } from './wire.ts';

const headersFor = ({ port, token }: Stage, ...more: HeaderLines): HeaderLines => [
  ['host', `127.0.0.1:${port}`],
  ['authorization', `Bearer ${token}`],
  ...more,
];

function connectTo(port: number): Socket {
  const socket = createConnection({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

test('a plain request to the address of WebSockets is told what belongs there', async () => {
  const { url, token } = await setStage();
  const answer = await fetch(`${url}/ws`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining('Only WebSocket') } });
});

describe('limits', () => {
  test('a body above 1 MiB is refused before it is in memory, with or without a length', async () => {
    const stage = await setStage();
    const lines = headersFor(stage, ['content-type', 'application/json']);
    const said = requestText('POST', '/api/teams', [...lines, ['content-length', '1048577']]);
    const refused = await sendBytes(stage.port, said);
    expect([refused?.status, JSON.parse(refused?.body ?? '')]).toMatchObject([413, { error: { code: 'limit' } }]);
    // It has a megabyte, and is no team.
    const most = requestText('POST', '/api/teams', lines, `{}${' '.repeat(1_048_574)}`);
    expect((await sendBytes(stage.port, most))?.status).toBe(400);
    const chunked = requestText('POST', '/api/teams', [...lines, ['transfer-encoding', 'chunked']]);
    const chunks = `10000\r\n${'x'.repeat(0x10000)}\r\n`.repeat(17);
    expect((await sendBytes(stage.port, `${chunked}${chunks}0\r\n\r\n`))?.status).toBe(413);
  });

  test('a connection stays open between two requests for longer than any client keeps it', async () => {
    const stage = await setStage();
    const answer = await fetch(`${stage.url}/api/teams`, { headers: { authorization: `Bearer ${stage.token}` } });
    const seconds = Number(/^timeout=(\d+)$/.exec(answer.headers.get('keep-alive') ?? '')?.[1]);
    // Bun's: Claude Code sends calls of team tools with it, and repeats none.
    expect(seconds).toBeGreaterThan(5 * 60);
  });

  test('endless headers are refused', async () => {
    const stage = await setStage();
    const long = requestText('GET', '/api/teams', [...headersFor(stage), ['x-long', 'x'.repeat(20_000)]]);
    expect((await sendBytes(stage.port, long))?.status).toBe(431);
    const slow = ['', '\r\n', 'GET', 'GET / HTTP/1.1\r\nHost: '];
    const { port } = await setStage({ limits: { greetingMs: 100 } });
    const answers = await Promise.all(slow.map((bytes) => sendBytes(port, bytes)));
    expect(answers.map((answer) => answer?.status)).toEqual([408, 408, 408, 408]);
  });

  test('requests above the rate limit are refused, only those of that credential', async () => {
    const stage = await setStage({ limits: { requestsPerSecond: 0.01, requestBurst: 5 } });
    const read = async (token: string): Promise<number> =>
      (await fetch(`${stage.url}/api/teams`, { headers: { authorization: `Bearer ${token}` } })).status;
    for (let i = 0; i < 5; i++) expect(await read(stage.token)).toBe(200);
    const answer = await fetch(`${stage.url}/api/teams`, { headers: { authorization: `Bearer ${stage.token}` } });
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('100');
    expect(await answer.json()).toMatchObject({ error: { code: 'limit' } });
    expect(await read(stage.tokens.worker)).toBe(200);
    // The connection stays, unless there is a body: no byte of that is read.
    expect(answer.headers.get('connection')).toBe('keep-alive');
    const stream = new ReadableStream({
      start(to) {
        to.enqueue(Buffer.from('{}'));
        to.close();
      },
    });
    for (const body of ['{}', stream]) {
      const headers = { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json' };
      const sent = await fetch(`${stage.url}/api/teams`, { method: 'POST', headers, body, duplex: 'half' });
      expect([sent.status, sent.headers.get('connection')]).toEqual([429, 'close']);
      expect(sent.headers.has('www-authenticate')).toBe(false);
    }
  });

  test('a client without a credential is disconnected: of the requests that it has pipelined, the first is answered', async () => {
    const stage = await setStage();
    const request = `GET /api/teams HTTP/1.1\r\nhost: 127.0.0.1:${stage.port}\r\n\r\n`;
    const answer = await sendBytes(stage.port, request.repeat(3));
    const headers = { connection: 'close', 'content-type': 'application/json', 'www-authenticate': 'Bearer' };
    expect(answer).toMatchObject({ status: 401, headers });
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ error: { code: 'unauthenticated' } });
  });

  test('the global objects of the process stay as they are', async () => {
    const before = [Request, Response];
    const stage = await setStage();
    const headers = { authorization: `Bearer ${stage.token}` };
    const answer = await fetch(`${stage.url}/api/teams`, { headers });
    expect(answer.status).toBe(200);
    expect([Request, Response]).toEqual(before);
  });

  test('a member that sends too fast learns when it may retry', async () => {
    const stage = await setStage();
    await stage.act('team.update', { teamId: 'demo', messagesPerMinute: 3 });
    const send = () =>
      fetch(`${stage.url}/api/teams/demo/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stage.tokens.worker}`, 'content-type': 'application/json' },
        body: JSON.stringify({ toId: 'lead', content: 'again' }),
      });
    const answers = await Promise.all(Array.from({ length: 12 }, send));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers } of refused) expect(headers.get('retry-after')).toMatch(/^(1?\d|20)$/);
  });

  test('after many wrong tokens each answer is delayed; other clients are not', async () => {
    const ask = async ({ url }: Stage, token: string, signal?: AbortSignal): Promise<number> =>
      (await fetch(`${url}/api/teams`, { headers: { authorization: `Bearer ${token}` }, signal: signal ?? null }))
        .status;
    const stage = await setStage({ limits: { authFailuresPerMinute: 2, authDelayMs: 3_600_000 } });
    for (let i = 0; i < 2; i++) expect(await ask(stage, 'wrong')).toBe(401);
    const gone = new AbortController();
    const waiting = ask(stage, 'wrong', gone.signal);
    await expect.poll(() => stage.hub.counters.rejected).toBe(3);
    for (let i = 0; i < 5; i++) expect(await ask(stage, stage.token)).toBe(200);
    gone.abort();
    await expect(waiting).rejects.toThrow('abort');
    const brief = await setStage({ limits: { authFailuresPerMinute: 2, authDelayMs: 1 } });
    for (let i = 0; i < 5; i++) expect(await ask(brief, 'wrong')).toBe(401);
  });

  test('a credential has at most 16 WebSockets', async () => {
    const stage = await setStage({ limits: { connectionsPerToken: 3 } });
    // Requests that are answered count no more.
    for (let i = 0; i < 4; i++) {
      const headers = { authorization: `Bearer ${stage.tokens.worker}` };
      expect((await fetch(`${stage.url}/api/teams/demo`, { headers })).status).toBe(200);
      await expect.poll(() => stage.hub.visits).toBe(0);
    }
    const open = (token: string) => openWebSocket(stage.url, { authorization: `Bearer ${token}` });
    const [first] = await Promise.all([open(stage.token), open(stage.token), open(stage.token)]);
    await expect(open(stage.token)).rejects.toThrow('429');
    await open(stage.tokens.worker);
    // Of a member, requests count too.
    for (let i = 0; i < 2; i++) await open(stage.tokens.worker);
    const headers = { authorization: `Bearer ${stage.tokens.worker}` };
    expect((await fetch(`${stage.url}/api/teams/demo`, { headers })).status).toBe(429);
    first.close();
    await first.closed;
    await expect
      .poll(() =>
        open(stage.token).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });

  test('connections without a credential are closed to make room for those with one', async () => {
    const stage = await setStage({ limits: { connections: 10 } });
    const kept = await openWebSocket(stage.url, { authorization: `Bearer ${stage.token}` });
    const idle = Array.from({ length: 40 }, () => connectTo(stage.port));
    const ends = idle.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve)));
    await Promise.race(ends);
    await expect.poll(() => idle.filter(({ destroyed }) => destroyed).length).toBeGreaterThanOrEqual(30);
    const answer = await fetch(`${stage.url}/api/teams`, { headers: { authorization: `Bearer ${stage.token}` } });
    expect(answer.status).toBe(200);
    expect(await kept.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
    expect(stage.hub.connections).toBeLessThanOrEqual(11);
  });

  test('if all connections have shown a credential, the next one is asked to retry', async () => {
    const stage = await setStage({ limits: { connections: 3 } });
    for (let i = 0; i < 3; i++) await openWebSocket(stage.url, { authorization: `Bearer ${stage.token}` });
    expect(await sendBytes(stage.port, requestText('GET', '/', headersFor(stage)))).toMatchObject({ status: 503 });
  });

  test('a member that finds the places of members taken is asked to retry, on the same connection', async () => {
    const stage = await setStage({ limits: { connections: 3 } });
    const authorization = `Bearer ${stage.tokens.worker}`;
    for (let i = 0; i < 2; i++) await openWebSocket(stage.url, { authorization });
    const answer = await fetch(`${stage.url}/api/teams/demo`, { headers: { authorization } });
    expect([answer.status, answer.headers.get('connection')]).toEqual([503, 'keep-alive']);
  });

  test('a server that is closed ends what is half sent, and leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const before = vi.getTimerCount();
    const stage = await setStage();
    const socket = connectTo(stage.port);
    const gone = new Promise((resolve) => socket.resume().once('close', resolve));
    socket.write('POST /api/teams HTTP/1.1\r\nHost:');
    await expect.poll(() => stage.hub.connections).toBe(1);
    await stage.stop();
    await gone;
    expect(vi.getTimerCount()).toBe(before);
  });

  test('an answer that the client does not read is dropped', async () => {
    const stage = await setHeldStage();
    const long = { teamId: 'demo', title: 'Long', description: 'x'.repeat(60_000) };
    for (let i = 0; i < 20; i++) await stage.act('task.create', long);
    const socket = connectTo(stage.port);
    socket.pause();
    const request = requestText('GET', '/api/teams/demo/tasks', headersFor(stage)).replace('connection: close\r\n', '');
    // One answer is less than a megabyte, which fits into the kernel's buffer; eight do not.
    socket.write(request.repeat(LIMITS.unanswered));
    await expect.poll(() => stage.hub.visits).toBeGreaterThan(0);
    await expect.poll(async () => (await stage.pass(1_000), stage.hub.connections)).toBe(0);
  });
});

describe('malformed requests', () => {
  test.each([
    ['form', 'application/x-www-form-urlencoded'],
    ['text', 'text/plain'],
    ['multipart', 'multipart/form-data; boundary=x'],
    ['JSON in disguise', 'text/plain; application/json'],
    ['nothing', undefined],
  ])('a body with the content type of a %s is refused', async (_, type) => {
    const stage = await setStage();
    const before = await stage.ends();
    const lines = headersFor(stage, ...(type === undefined ? [] : [['content-type', type] as const]));
    const chunked = requestText('POST', '/api/teams', [...lines, ['transfer-encoding', 'chunked']]);
    expect((await sendBytes(stage.port, `${chunked}2\r\n{}\r\n0\r\n\r\n`))?.status).toBe(415);
    const answer = await sendBytes(stage.port, requestText('POST', '/api/teams', lines, '{"name":"planted"}'));
    expect(answer?.status).toBe(415);
    expect(JSON.parse(answer?.body ?? '')).toEqual({
      error: { code: 'invalid', message: 'A body must be application/json' },
    });
    expect(await stage.ends()).toEqual(before);
  });

  test('an expectation that we cannot meet is refused as that', async () => {
    const stage = await setStage();
    const answer = await sendBytes(stage.port, requestText('GET', '/', [...headersFor(stage), ['expect', 'more']]));
    expect(answer).toMatchObject({ status: 417, headers: SECURITY_HEADERS });
    const stranger = [
      ['host', 'evil.example'],
      ['expect', 'more'],
    ] as const;
    expect((await sendBytes(stage.port, requestText('GET', '/', stranger)))?.status).toBe(403);
    const message = 'Only Expect: 100-continue is supported';
    expect(JSON.parse(answer?.body ?? '')).toEqual({ error: { code: 'invalid', message } });
  });

  test('a client that asks whether to send its body hears yes only with a credential, and never in HTTP/1.0', async () => {
    const stage = await setStage();
    const ask = (lines: HeaderLines, version = '1.1') => {
      const more = [...lines, ['content-type', 'application/json'], ['expect', '100-continue']] as const;
      const text = requestText('POST', '/api/teams', more, '{"name":"Not a slug"}');
      return sendBytes(stage.port, text.replace('HTTP/1.1', `HTTP/${version}`));
    };
    expect(await ask([['host', `127.0.0.1:${stage.port}`]])).toMatchObject({ status: 401 });
    const answer = await ask(headersFor(stage));
    expect([answer?.status, answer?.body]).toEqual([100, expect.stringMatching(/^HTTP\/1\.1 400 /)]);
    expect(await ask(headersFor(stage), '1.0')).toMatchObject({ status: 400 });
  });

  test('a request without a host is refused by the guard', async () => {
    const stage = await setStage();
    expect(await sendBytes(stage.port, requestText('GET', '/', []))).toMatchObject({ status: 403 });
  });

  test('a request without a credential is refused as that, whatever else is wrong with it', async () => {
    const stage = await setStage();
    const host = ['host', `127.0.0.1:${stage.port}`] as const;
    const text = ['content-type', 'text/plain'] as const;
    for (const [method, path, ...lines] of [
      ['POST', '/'],
      ['POST', '/api/teams', text],
      ['GET', '/api/login', ['origin', stage.url]],
    ] as const) {
      const before = stage.hub.counters.rejected;
      const body = method === 'POST' ? 'x' : '';
      const answer = await sendBytes(stage.port, requestText(method, path, [host, ...lines], body));
      expect(answer, `${method} ${path}`).toMatchObject({ status: 401, headers: { connection: 'close' } });
      expect(stage.hub.counters.rejected).toBe(before + 1);
    }
    expect(await sendBytes(stage.port, requestText('HEAD', '/', [host]))).toMatchObject({ status: 200, body: '' });
  });

  test('what is not HTTP is refused as that', async () => {
    const stage = await setStage();
    const answer = await sendBytes(stage.port, 'hello\r\n\r\n');
    expect(answer).toMatchObject({ status: 400 });
    expect(JSON.parse(answer?.body ?? '')).toEqual({ error: { code: 'invalid', message: 'This is not HTTP' } });
  });

  test.each([
    ['an absolute address', 'GET http://127.0.0.1/api/teams HTTP/1.1'],
    ['an address with two slashes', 'GET //evil.example/ HTTP/1.1'],
    ['a star', 'OPTIONS * HTTP/1.1'],
  ])('%s is refused', async (_, first) => {
    const stage = await setStage();
    const text = requestText('GET', '/x', headersFor(stage)).replace(/^.*\r\n/, `${first}\r\n`);
    expect((await sendBytes(stage.port, text))?.status).toBe(400);
  });

  test('two lengths, or a length and chunks, are refused', async () => {
    const stage = await setStage();
    const lines = headersFor(stage, ['content-type', 'application/json']);
    for (const more of [
      [
        ['content-length', '2'],
        ['content-length', '20'],
      ],
      [
        ['content-length', '2'],
        ['transfer-encoding', 'chunked'],
      ],
    ] as const) {
      const answer = await sendBytes(stage.port, `${requestText('POST', '/api/teams', [...lines, ...more])}{}`);
      expect(answer?.status).toBe(400);
      expect(answer?.headers).toMatchObject(SECURITY_HEADERS);
    }
  });

  test('an upgrade to anything but a WebSocket is ignored', async () => {
    const stage = await setStage();
    const lines = headersFor(stage, ['upgrade', 'h2c'], ['connection', 'upgrade']);
    expect((await sendBytes(stage.port, requestText('GET', '/api/teams', lines)))?.status).toBe(200);
  });
});

describe('the page that needs no credential', () => {
  test('says that the daemon runs, without script or style', async () => {
    const { url } = await setStage();
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
      if (name !== 'cache-control') expect(answer.headers.get(name)).toBe(value);
    }
    const text = await answer.text();
    expect(text).toContain('/api/openapi.json');
    expect(text).not.toMatch(/<script|<style|style=|on\w+=/);
  });

  test('is the dashboard if it was built, and no other file', async () => {
    const folder = temporaryFolder();
    const ui = join(folder, 'ui');
    mkdirSync(join(ui, 'assets'), { recursive: true });
    mkdirSync(join(ui, 'api'));
    writeFileSync(join(ui, 'index.html'), '<!doctype html>dashboard');
    writeFileSync(join(ui, 'assets/app.js'), 'run()');
    writeFileSync(join(ui, 'assets/notes.txt'), 'not ours to give');
    writeFileSync(join(ui, 'api/teams.js'), 'in the way');
    writeFileSync(join(folder, 'secret.js'), 'secret');
    const stage = await startServer({ ui });
    const read = async (path: string) => {
      const answer = await sendBytes(stage.port, requestText('GET', path, [['host', `127.0.0.1:${stage.port}`]]));
      return [answer?.status, answer?.headers['content-type'], answer?.body] as const;
    };
    expect(await read('/')).toEqual([200, 'text/html; charset=utf-8', '<!doctype html>dashboard']);
    expect(await read('/index.html?x=1')).toEqual([200, 'text/html; charset=utf-8', '<!doctype html>dashboard']);
    expect(await read('/assets/app.js')).toEqual([200, 'text/javascript; charset=utf-8', 'run()']);
    for (const path of [
      '/assets/notes.txt',
      '/assets/',
      '/api/teams.js',
      '/../secret.js',
      '/assets/../../secret.js',
      '/..%2fsecret.js',
      '/%2e%2e/secret.js',
      '/assets\\..\\..\\secret.js',
      '/constructor',
      '/__proto__',
    ]) {
      expect({ path, status: (await read(path))[0] }).toEqual({ path, status: 401 });
    }
  });
});

test('a WebSocket without heartbeats is closed, one with heartbeats is not', async () => {
  const stage = await setHeldStage();
  const headers = { authorization: `Bearer ${stage.token}` };
  const dead = new WebSocket(`${stage.url.replace('http', 'ws')}/ws`, { headers, autoPong: false });
  onTestFinished(() => dead.terminate());
  const ended = new Promise((resolve) => dead.once('close', resolve));
  await new Promise((resolve) => dead.once('open', resolve));
  const alive = await openWebSocket(stage.url, headers);
  await stage.pass(LIMITS.keepAliveMs);
  expect(stage.hub.connected.size).toBe(2);
  // Its heartbeat comes before this, on the same connection.
  await alive.ask({ type: 'ping' });
  await stage.pass(LIMITS.keepAliveMs);
  expect(await ended).toBe(1013);
  expect(await alive.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
});

test('an error in checking credentials is reported as such, and admits nobody', async () => {
  const stage = await setStage();
  const headers = { authorization: `Bearer ${stage.token}` };
  const { credentials } = stage.hub;
  credentials.verify = () => Promise.reject(new TeamError('storage', 'The disk is gone'));
  expect((await fetch(`${stage.url}/api/teams`, { headers })).status).toBe(503);
  await expect(openWebSocket(stage.url, headers)).rejects.toThrow('503');
  const wire = await openUnix(stage.home.socket, stage.token);
  expect(wire.frames).toMatchObject([{ error: { code: 'storage' } }]);
  credentials.verify = () => Promise.reject(new Error('detail'));
  const answer = await fetch(`${stage.url}/api/teams`, { headers });
  expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining('detail')]);
  expect(stage.errors).toHaveLength(1);
});

test('health needs a token like everything else, and metrics may be empty', async () => {
  const stage = await setStage();
  const read = (path: string) => fetch(stage.url + path, { headers: { authorization: `Bearer ${stage.token}` } });
  expect(await (await read('/health')).json()).toEqual({ status: 'ok' });
  expect(await (await read('/metrics')).text()).toBe('');
  expect((await fetch(`${stage.url}/health`)).status).toBe(401);
});

test('MCP gets the request and the caller', async () => {
  const seen: unknown[] = [];
  const stage = await setStage({
    mcp: async (request, { caller }) => {
      seen.push([request.method, await request.text(), caller]);
      return Response.json({ ok: true });
    },
  });
  const answer = await fetch(`${stage.url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.tokens.worker}`, 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0"}',
  });
  expect(await answer.json()).toEqual({ ok: true });
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(seen).toEqual([
    ['POST', '{"jsonrpc":"2.0"}', expect.objectContaining({ scope: 'member', teamId: 'demo', memberId: 'worker' })],
  ]);
});

test('only people may read metrics', async () => {
  const stage = await setStage({ metrics: () => 'troupe_up 1\n' });
  const read = (token: string) => fetch(`${stage.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  expect(await (await read(stage.token)).text()).toBe('troupe_up 1\n');
  expect((await read(stage.tokens.lead)).status).toBe(403);
});

test('a client that disconnects within a body is not reported as a defect', async () => {
  const stage = await setStage({ mcp: async (request) => new Response(await request.text()) });
  for (const path of ['/api/teams', '/mcp']) {
    const socket = connectTo(stage.port);
    const lines = headersFor(stage, ['content-type', 'application/json'], ['content-length', '1000']);
    const { calls, refusals } = stage.hub.counters;
    socket.write(`${requestText('POST', path, lines)}{"name": `);
    await expect.poll(() => stage.hub.connections).toBe(1);
    // The answer to another request shows that the first one is being read.
    await fetch(`${stage.url}/health`, { headers: { authorization: `Bearer ${stage.token}`, connection: 'close' } });
    socket.destroy();
    await expect.poll(() => stage.hub.connections).toBe(0);
    expect({ calls, refusals }).toEqual({ calls: stage.hub.counters.calls, refusals: stage.hub.counters.refusals });
  }
  expect(stage.errors).toEqual([]);
});

test('a client that is gone before its credential was checked is not served', async () => {
  const stage = await setStage();
  const [asked, checked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const verify = stage.hub.credentials.verify.bind(stage.hub.credentials);
  stage.hub.credentials.verify = async (token) => {
    asked.resolve();
    await checked.promise;
    return verify(token);
  };
  const { calls } = stage.hub.counters;
  const [socket, unix] = [connectTo(stage.port), await openUnix(stage.home.socket)];
  socket.write(requestText('GET', '/api/teams', headersFor(stage)));
  await asked.promise;
  unix.send({ type: 'hello', id: 'hello', token: stage.token });
  await expect.poll(() => stage.hub.connections).toBe(2);
  socket.destroy();
  unix.terminate();
  await expect.poll(() => stage.hub.connections).toBe(0);
  checked.resolve();
  expect(await (await openUnix(stage.home.socket, stage.token)).ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
  expect(stage.hub.counters.calls).toBe(calls);
  expect(stage.errors).toEqual([]);
});

test('a refusal of HEAD has no body, and says how long one would be', async () => {
  const stage = await setStage();
  const refused = await sendBytes(stage.port, requestText('HEAD', '/api/teams', [['host', `127.0.0.1:${stage.port}`]]));
  expect(refused).toMatchObject({ status: 401, body: '' });
  expect(Number(refused?.headers['content-length'])).toBeGreaterThan(0);
});

test.each([
  ['100-continue', undefined],
  ['something else', 'evil.example'],
])('a connection cannot pipeline requests that expect %s', async (expect_, host) => {
  const stage = await setStage({ limits: { unanswered: 2, authFailuresPerMinute: 0, authDelayMs: 60_000 } });
  const one = requestText('POST', '/api/teams', [
    ['host', host ?? `127.0.0.1:${stage.port}`],
    ['expect', expect_],
  ]).replace('connection: close\r\n', '');
  const answer = await sendBytes(stage.port, one.repeat(20));
  expect(answer?.status).not.toBe(200);
  expect(stage.hub.counters.rejected).toBeLessThanOrEqual(2);
});

test.each([
  ['with a certificate', '127.0.0.1', true, /^https:\/\/127\.0\.0\.1:\d+$/],
  ['by its IPv6 address', '::1', false, /^http:\/\/\[::1\]:\d+$/],
] as const)('a server on loopback is named %s', async (_, host, isSecure, url) => {
  const { key, cert } = makeCertificate('localhost');
  const tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  const server = await startServer({ host, ...(isSecure && { tls }) });
  expect(server.url).toMatch(url);
  await expect(startServer({ host, port: server.port })).rejects.toMatchObject({ code: 'storage' });
  if (!isSecure) return;
  // Its own page may change things.
  const headers = { origin: server.url, authorization: `Bearer ${server.token}` };
  const asked = request(`${server.url}/api/logout`, { method: 'POST', headers, rejectUnauthorized: false }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  expect(answer.statusCode).toBe(200);
});

test('a server on loopback can have another name over HTTP', async () => {
  const { port } = await startServer({ origins: ['http://troupe.example:8080'] });
  const read = async (host: string) => (await sendBytes(port, requestText('GET', '/', [['host', host]])))?.status;
  expect([await read('troupe.example:8080'), await read('troupe.example')]).toEqual([200, 403]);
});

describe('other machines', () => {
  const open = { host: '0.0.0.0' };

  test.each([
    ['nothing', open],
    ['only origins', { ...open, origins: ['https://troupe.example:8443'] }],
    ['only a certificate', { ...open, tls: { cert: '', key: '' } }],
    ['no origin', { ...open, tls: { cert: '', key: '' }, origins: [] }],
    ['a wrong origin', { ...open, tls: { cert: '', key: '' }, origins: ['troupe.example'] }],
    ['an origin with a path', { ...open, tls: { cert: '', key: '' }, origins: ['https://troupe.example/x'] }],
    ['an origin without TLS', { ...open, tls: { cert: '', key: '' }, origins: ['http://troupe.example:8443'] }],
    ['an origin of another scheme', { ...open, tls: { cert: '', key: '' }, origins: ['ftp://troupe.example'] }],
    ['any origin', { ...open, tls: { cert: '', key: '' }, origins: ['*'] }],
  ])('cannot connect with %s', async (_, options) => {
    await expect(startServer(options)).rejects.toMatchObject({ code: 'invalid' });
  });

  test('can connect with a certificate and exact origins, and only under these', async (context) => {
    needTool(context, 'openssl');
    const { key, cert } = makeCertificate('troupe.example');
    const origin = 'https://troupe.example:8443';
    const tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
    const stage = await setStage({ host: '0.0.0.0', tls, origins: [origin], limits: { connections: 3 } });
    expect(stage.url).toBe(origin);
    const read = (host: string, headers: Record<string, string> = {}): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port: stage.port, path: '/api/teams', rejectUnauthorized: false };
        const asking = request(
          { ...options, headers: { host, authorization: `Bearer ${stage.token}`, ...headers } },
          (answer) => resolve(answer.resume().statusCode),
        );
        asking.once('error', reject).end();
      });
    expect(await read('troupe.example:8443')).toBe(200);
    expect(await read('troupe.example:8443', { origin })).toBe(200);
    expect(await read('troupe.example:8443', { origin: 'https://troupe.example' })).toBe(403);
    expect(await read(`127.0.0.1:${stage.port}`)).toBe(403);
    expect(await read('troupe.example')).toBe(403);
    // Silent strangers make room here too.
    const strangers = Array.from({ length: 20 }, () => connectTo(stage.port).resume());
    await expect.poll(() => strangers.filter(({ destroyed }) => destroyed).length).toBeGreaterThanOrEqual(17);
    expect(await read('troupe.example:8443')).toBe(200);
  });
});

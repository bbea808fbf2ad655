import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/operations/index.ts';
import type { OperationName } from '../../src/operations/index.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { SECURITY_HEADERS } from '../../src/server/headers.ts';
import { isProof, tell } from '../proof.ts';
import { SAMPLES } from './samples.ts';
import { shareStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, openWebSocket, requestText, sendBytes, upgradeText, webSocketFrame } from './wire.ts';
import type { HeaderLines } from './wire.ts';

/** A kind of request that must be refused, for any operation. */
interface Attempt {
  readonly name: string;
  readonly status: number;
  readonly headers: (stage: Stage) => HeaderLines;
  readonly query?: (stage: Stage) => string;
}

const host = ({ port }: Stage): readonly [string, string] => ['host', `127.0.0.1:${port}`];
const bearer = (token: string): readonly [string, string] => ['authorization', `Bearer ${token}`];
const cut = (token: string): string => token.slice(0, -1);
/** The same token with another letter in the middle. At the end, a letter may differ in padding only. */
const bent = (token: string): string => `${token.slice(0, 10)}${token[10] === 'A' ? 'B' : 'A'}${token.slice(11)}`;

const ATTEMPTS: readonly Attempt[] = [
  { name: 'no token', status: 401, headers: (stage) => [host(stage)] },
  { name: 'a bad token', status: 401, headers: (stage) => [host(stage), bearer('x'.repeat(43))] },
  { name: 'an empty token', status: 401, headers: (stage) => [host(stage), ['authorization', 'Bearer ']] },
  { name: 'a truncated admin token', status: 401, headers: (stage) => [host(stage), bearer(cut(stage.token))] },
  { name: 'a truncated member token', status: 401, headers: (stage) => [host(stage), bearer(cut(stage.tokens.lead))] },
  { name: 'a bent member token', status: 401, headers: (stage) => [host(stage), bearer(bent(stage.tokens.lead))] },
  { name: 'a token with more behind it', status: 401, headers: (stage) => [host(stage), bearer(`${stage.token}x`)] },
  { name: 'another scheme', status: 401, headers: (stage) => [host(stage), ['authorization', `Basic ${stage.token}`]] },
  { name: 'two tokens', status: 400, headers: (stage) => [host(stage), bearer(stage.token), bearer(stage.token)] },
  ...['token', 'access_token', 'TOKEN', 'authorization', 'code'].flatMap((name): Attempt[] => [
    {
      name: `only a ?${name}=`,
      status: 400,
      headers: (stage) => [host(stage)],
      query: (stage) => `?${name}=${stage.token}`,
    },
    {
      name: `a ?${name}= besides`,
      status: 400,
      headers: (stage) => [host(stage), bearer(stage.token)],
      query: (stage) => `?${name}=${stage.token}`,
    },
  ]),
  ...[
    'null',
    'http://localhost.evil',
    'http://evil.example',
    'http://127.0.0.1',
    'http://localhost:1',
    'https://127.0.0.1:PORT',
    'http://127.0.0.1:PORT.evil.example',
    'http://127.0.0.1:PORT/',
    'http://0.0.0.0:PORT',
    '',
  ].map((origin): Attempt => ({
    name: `the origin ${JSON.stringify(origin)}`,
    status: 403,
    headers: (stage) => [host(stage), bearer(stage.token), ['origin', origin.replace('PORT', String(stage.port))]],
  })),
  {
    name: 'two origins',
    status: 403,
    headers: (stage) => [host(stage), bearer(stage.token), ['origin', stage.url], ['origin', 'http://evil.example']],
  },
  ...[
    'evil.example:PORT',
    '0.0.0.0:PORT',
    '127.0.0.1',
    '127.0.0.1:1',
    '127.0.0.1:PORT.evil.example',
    'localhost.:PORT',
    '',
  ].map((name): Attempt => ({
    name: `the host ${JSON.stringify(name)}`,
    status: 403,
    headers: (stage) => [['host', name.replace('PORT', String(stage.port))], bearer(stage.token)],
  })),
  { name: 'no host', status: 403, headers: (stage) => [bearer(stage.token)] },
  { name: 'two hosts', status: 403, headers: (stage) => [host(stage), host(stage), bearer(stage.token)] },
  {
    name: 'two different hosts',
    status: 403,
    headers: (stage) => [host(stage), ['Host', 'evil.example'], bearer(stage.token)],
  },
  ...['cross-site', 'same-site', 'whatever'].map((site): Attempt => ({
    name: `sec-fetch-site ${site}`,
    status: 403,
    headers: (stage) => [host(stage), bearer(stage.token), ['sec-fetch-site', site]],
  })),
  {
    name: 'a made-up cookie',
    status: 401,
    headers: (stage) => [
      host(stage),
      ['origin', stage.url],
      ['cookie', `troupe_session_${stage.port}=${'x'.repeat(43)}`],
      ['x-troupe-csrf', '1'],
    ],
  },
  {
    name: 'the token as a cookie',
    status: 401,
    headers: (stage) => [
      host(stage),
      ['origin', stage.url],
      ['cookie', `troupe_session_${stage.port}=${stage.token}`],
      ['x-troupe-csrf', '1'],
    ],
  },
];

/** The addresses besides those of the operations. */
const OTHERS: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/health'],
  ['GET', '/metrics'],
  ['GET', '/api/openapi.json'],
  ['POST', '/api/logout'],
  ['GET', '/api/agents/lead@demo/teammates'],
  ['GET', '/api/agents/lead@demo/team-tasks'],
  ['GET', '/api/teams/demo/events'],
  ['POST', '/mcp'],
  ['GET', '/mcp'],
  ['DELETE', '/mcp'],
  ['OPTIONS', '/api/teams'],
  ['OPTIONS', '/mcp'],
  ['PUT', '/api/teams'],
  ['GET', '/nothing'],
  ['GET', '/%61pi/teams'],
  ['GET', '/api/../health'],
];

/** In `npm test`, each operation is tried with one of this many attempts. */
const EVERY = 8;

describe('a stranger is refused and changes nothing', () => {
  // Nothing changes it, or the test fails; so one is enough.
  const shared = shareStage({
    limits: { authDelayMs: 0, requestBurst: 1e6 },
    mcp: async () => new Response('{}'),
    metrics: () => '',
  });

  /** The addresses of the operations, and all others. */
  const ADDRESSES = [
    ...OPERATIONS.map(({ route, name }) => {
      const [method = '', path = ''] = route.split(' ');
      return { what: `${name} over REST: ${route}`, method, path: fillPath(path), body: bodyOf(method, bodyFor(name)) };
    }),
    ...OTHERS.map(([method, path]) => ({
      what: `${method} ${path}`,
      method,
      path,
      body: method === 'POST' ? {} : undefined,
    })),
  ];

  async function expectRefusals(
    attempts: readonly Attempt[],
    method: string,
    path: string,
    body?: object,
  ): Promise<void> {
    const stage = shared();
    const before = await stage.ends();
    const answers = await Promise.all(
      attempts.map(async ({ name, status, headers, query }) => {
        const lines: HeaderLines = [...headers(stage), ['content-type', 'application/json']];
        const target = `${path}${query?.(stage) ?? ''}`;
        const answer = await sendBytes(stage.port, requestText(method, target, lines, body && JSON.stringify(body)));
        return { name, status, answer };
      }),
    );
    for (const { name, status, answer } of answers) {
      expect({ name, status: answer?.status }).toEqual({ name, status });
      expect(JSON.parse(answer?.body ?? '')).toMatchObject({
        error: { code: expect.stringMatching(/^[a-z_]+$/) as string, message: expect.stringMatching(/^\w/) as string },
      });
      expect(answer?.headers).toMatchObject({
        'content-security-policy': expect.stringContaining("default-src 'none'") as string,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      expect(Object.keys(answer?.headers ?? {}).filter((header) => header.startsWith('access-control'))).toEqual([]);
      expect(answer?.body).not.toContain(stage.token);
    }
    expect(await stage.ends()).toEqual(before);
    expect(stage.errors).toEqual([]);
    tell({ refused: answers.length });
  }

  // The guard checks every address. So `npm test` tries all attempts at one operation of each method and at all other
  // addresses, and some attempts at each operation in turn. `npm run proof` tries all attempts everywhere.
  test.each(ADDRESSES.map((address, at) => ({ ...address, at })))('$what', async ({ method, path, body, at }) => {
    const isFirst = ADDRESSES.findIndex((address) => address.method === method) === at;
    const all = isProof || isFirst || at >= OPERATIONS.length;
    const attempts = ATTEMPTS.filter(({ name }, nth) => all || name === 'no token' || nth % EVERY === at % EVERY);
    await expectRefusals(attempts, method, path, body);
  });

  /** A valid call of each operation. */
  const ASKS = OPERATIONS.map(({ name, message }) =>
    JSON.stringify({ type: message?.type ?? name, id: 1, payload: bodyFor(name) }),
  );

  test('every operation over WebSocket', async () => {
    const stage = shared();
    const before = await stage.ends();
    await Promise.all(
      ATTEMPTS.map(async (attempt) => {
        const opening = upgradeText(`/ws${attempt.query?.(stage) ?? ''}`, attempt.headers(stage));
        const frames = ASKS.map((ask) => webSocketFrame(ask));
        const answer = await sendBytes(stage.port, Buffer.concat([Buffer.from(opening), ...frames]));
        expect({ name: attempt.name, status: answer?.status }).toEqual({ name: attempt.name, status: attempt.status });
      }),
    );
    expect(await stage.ends()).toEqual(before);
  });

  test('every operation over the Unix socket', async () => {
    const stage = shared();
    const before = await stage.ends();
    const hellos = [
      { type: 'hello' },
      { type: 'hello', token: 7 },
      { type: 'hello', token: '' },
      { type: 'hello', token: cut(stage.token) },
      { type: 'hello', token: bent(stage.tokens.lead) },
      { type: 'hello', token: 'x'.repeat(100_000) },
    ];
    // Either an invalid hello and then all calls, or a call instead of a hello.
    const sent = [...hellos.map((hello) => [JSON.stringify(hello), ...ASKS]), ...ASKS.map((ask) => [ask])];
    for (const lines of sent) {
      const wire = await openUnix(stage.home.socket);
      wire.send(lines.join('\n'));
      await wire.closed;
      expect(wire.frames).toMatchObject([{ type: 'error', error: { code: 'unauthenticated' } }]);
    }
    expect(await stage.ends()).toEqual(before);
  });
});

describe('the guard checks a request before any answer', () => {
  const shared = shareStage();
  const evil: HeaderLines = [['host', 'evil.example']];
  const asks = (headers: HeaderLines, expected: string): string =>
    requestText('POST', '/api/teams', [...headers, ['content-type', 'application/json'], ['expect', expected]], '{}');

  test.each(['foo', '100-continue'])('also one that expects %s', async (expected) => {
    const stage = shared();
    const stranger = await sendBytes(stage.port, asks(evil, expected));
    expect(stranger).toMatchObject({ status: 403, headers: SECURITY_HEADERS });
    const nobody = await sendBytes(stage.port, asks([host(stage)], expected));
    expect(nobody?.status).toBe(expected === 'foo' ? 417 : 401);
    expect(nobody).toMatchObject({ headers: SECURITY_HEADERS, body: expect.stringContaining('"error"') as string });
  });

  test('and lets an authenticated client continue', async () => {
    const stage = shared();
    const answer = await sendBytes(stage.port, asks([host(stage), bearer(stage.token)], '100-continue'));
    expect(answer).toMatchObject({ status: 100, body: expect.stringMatching(/^HTTP\/1\.1 400 /) as string });
  });

  test.each([
    ['by POST', (text: string) => text.replace('GET', 'POST')],
    ['without a key', (text: string) => text.replace(/sec-websocket-key.*\r\n/, '')],
    ['of another version', (text: string) => text.replace('version: 13', 'version: 7')],
    [
      'with a protocol that is none',
      (text: string) => text.replace('\r\n\r\n', '\r\nsec-websocket-protocol: ,\r\n\r\n'),
    ],
  ])('a WebSocket %s is refused like other requests', async (_, bend) => {
    const stage = shared();
    const answer = await sendBytes(stage.port, bend(upgradeText('/ws', [host(stage), bearer(stage.token)])));
    expect(answer).toMatchObject({ status: 400, headers: SECURITY_HEADERS });
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ error: { code: 'invalid' } });
  });
});

describe('a credential that does not suffice is refused', () => {
  // Nothing changes it, or the test fails; so one is enough.
  const shared = shareStage({ limits: { requestBurst: 1e6 } });

  /** The credentials that must not suffice for an operation. */
  function tooWeak({ scope, input }: Operation, { tokens }: Stage): string[] {
    const weaker = {
      reader: [],
      member: [tokens.reader],
      lead: [tokens.reader, tokens.worker],
      admin: [tokens.reader, tokens.worker, tokens.lead, tokens.stranger],
    }[scope];
    return 'teamId' in input.shape ? [...weaker, tokens.stranger] : weaker;
  }

  test.each(OPERATIONS)('$name', async (operation) => {
    const stage = shared();
    const before = await stage.ends();
    const [method = '', path = ''] = operation.route.split(' ');
    const frame = { payload: { ...bodyFor(operation.name), ...paramsOf(path) } };
    for (const token of tooWeak(operation, stage)) {
      const answer = await fetch(stage.url + fillPath(path) + (QUERIES[operation.name] ?? ''), {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(method !== 'GET' && { body: JSON.stringify(bodyFor(operation.name)) }),
      });
      expect(answer.status).toBe(403);
      for (const wire of [
        await openUnix(stage.home.socket, token),
        await openWebSocket(stage.url, { authorization: `Bearer ${token}` }),
      ]) {
        for (const type of [operation.name, ...(operation.message ? [operation.message.type] : [])]) {
          expect(await wire.ask({ type, ...frame })).toMatchObject({ type: 'error', error: { code: 'not_allowed' } });
        }
      }
    }
    expect(await stage.ends()).toEqual(before);
  });

  test('following a team', async () => {
    const { home, url, tokens } = shared();
    for (const wire of [
      await openUnix(home.socket, tokens.stranger),
      await openWebSocket(url, { authorization: `Bearer ${tokens.stranger}` }),
    ]) {
      expect(await wire.ask({ type: 'subscribe', teamId: 'demo' })).toMatchObject({ error: { code: 'not_allowed' } });
    }
    const answer = await fetch(`${url}/api/teams/demo/events`, {
      headers: { authorization: `Bearer ${tokens.stranger}` },
    });
    expect(answer.status).toBe(403);
  });

  test('asking for the agents of another team', async () => {
    const { url, tokens } = shared();
    for (const id of ['lead@demo', 'session-of-demo']) {
      for (const what of ['teammates', 'team-tasks']) {
        const headers = { authorization: `Bearer ${tokens.stranger}` };
        expect((await fetch(`${url}/api/agents/${id}/${what}`, { headers })).status).toBe(404);
      }
    }
  });
});

describe('a member cannot act for another member of its team', () => {
  const shared = shareStage({ limits: { requestBurst: 1e6 } });
  const ofTeams = OPERATIONS.filter(({ input, scope }) => 'teamId' in input.shape && scope !== 'admin');

  /** What every member may do: look at what all share, and work in its own name. Everything else is refused. */
  const COMMON: ReadonlySet<string> = new Set<OperationName>([
    ...([
      'team.show',
      'team.status',
      'team.digest',
      'team.report',
      'team.search',
      'member.list',
      'member.show',
      'session.list',
    ] as const),
    ...(['task.list', 'task.show', 'request.list', 'note.list', 'note.search', 'hook.list', 'event.list'] as const),
    // Every member sees the feedback of gates.
    ...(['gate.runs', 'gate.text'] as const),
    ...([
      'account.list',
      'budget.show',
      'usage.show',
      'message.send',
      'message.broadcast',
      'note.add',
      'plan.submit',
      'question.ask',
    ] as const),
    ...([
      'task.create',
      'task.claim',
      'task.update',
      'task.depend',
      'task.undepend',
      'work.show',
      'work.diff',
      'work.files',
      'work.lines',
      'work.check',
      'work.saves',
      'work.setup',
    ] as const),
  ]);

  /** A call by the worker, or about it. */
  async function prepare({
    name,
    input: { shape },
  }: Operation): Promise<{ stage: Stage; payload: object; end: number }> {
    const stage = await shared().aside();
    const { input } = await SAMPLES[name as OperationName](stage);
    const payload = 'memberId' in shape ? { memberId: 'worker', ...input } : input;
    return { stage, payload, end: (await stage.ends())[stage.teamId] ?? 0 };
  }

  /** What worker and other did since. Members that the sample started may still be working. */
  async function doneSince({ act, teamId }: Stage, end: number): Promise<unknown[]> {
    const batches = await act('event.list', { teamId, after: end });
    return batches.flatMap(({ events }) => events).filter(({ by }) => by === 'worker' || by === 'other');
  }

  test.each(ofTeams)('by naming it: $name', async (operation) => {
    const { stage, payload, end } = await prepare(operation);
    const { name, route, message } = operation;
    const authorization = `Bearer ${stage.tokens.other}`;
    for (const wire of [
      await openUnix(stage.home.socket, stage.tokens.other),
      await openWebSocket(stage.url, { authorization }),
    ]) {
      for (const type of [name, ...(message ? [message.type] : [])]) {
        const answer = await wire.ask({ type, as: 'worker', payload });
        expect(answer).toMatchObject({ type: 'error', error: { code: 'not_allowed' } });
      }
    }
    const [method = '', path = ''] = route.split(' ');
    const params = paramsOf(path);
    const rest = Object.fromEntries(Object.entries(payload).filter(([input]) => !(input in params)));
    const query = method === 'GET' ? `?${new URLSearchParams(rest as Record<string, string>).toString()}` : '';
    const address = path.replace(/:(\w+)/g, (_, input: string) => wordOf(payload, input));
    const answer = await fetch(stage.url + address + query, {
      method,
      headers: { authorization, 'content-type': 'application/json', 'x-troupe-as': 'worker' },
      ...(method !== 'GET' && { body: JSON.stringify(rest) }),
    });
    expect(answer.status).toBe(403);
    expect(await doneSince(stage, end)).toEqual([]);
  });

  test.each(ofTeams.filter(({ name, scope }) => scope !== 'lead' && !COMMON.has(name)))(
    'on what belongs to it: $name',
    async (operation) => {
      const { stage, payload, end } = await prepare(operation);
      const wire = await openUnix(stage.home.socket, stage.tokens.other);
      const answer = await wire.ask({ type: operation.name, payload });
      expect(answer).toMatchObject({ type: 'error', error: { code: 'not_allowed' } });
      expect(await doneSince(stage, end)).toEqual([]);
    },
  );
});

function wordOf(payload: object, name: string): string {
  return String((payload as Readonly<Record<string, unknown>>)[name]);
}

const PARAMS: Readonly<Record<string, string>> = {
  teamId: 'demo',
  taskId: '1',
  memberId: 'worker',
  requestId: 'x',
  noteId: '1',
  type: 'TaskCompleted',
};

function fillPath(path: string): string {
  return path.replace(/:(\w+)/g, (_, name: string) => PARAMS[name] ?? 'x');
}

function paramsOf(path: string): Record<string, string> {
  return Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, PARAMS[name] ?? 'x']));
}

function bodyOf(method: string, body: object): object | undefined {
  return method === 'GET' ? undefined : body;
}

/** A body that would change something if the call were accepted. */
function bodyFor(name: string): object {
  return BODIES[name] ?? { title: 'planted', toId: 'lead', content: 'planted' };
}

/** An operation that needs no team names one in its query. */
const QUERIES: Readonly<Record<string, string>> = { 'team.search': '?text=planted&teamId=demo' };

const BODIES: Readonly<Record<string, object>> = {
  'team.search': { text: 'planted', teamId: 'demo' },
  'team.create': { name: 'planted' },
  'team.up': { source: 'team: planted', folder: '/', yes: true },
  'team.check': { source: 'team: planted', folder: '/' },
  'team.down': { force: true },
  'member.add': { name: 'planted' },
  'member.spawn': { name: 'planted', agent: { kind: 'exec', command: ['planted'] } },
  'member.restart': {},
  'member.stop': {},
  'request.raise': { kind: 'permission', memberId: 'worker', content: 'planted' },
  'request.answer': { approve: true },
  'note.add': { text: 'planted' },
  'note.update': { text: 'planted' },
  'hook.register': { type: 'TaskCompleted', command: 'planted' },
};

import { request as ask } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SYSTEM } from '../../src/core/actor.ts';
import type { TeamRequest } from '../../src/core/request.ts';
import { ANSWER_PAGE, answerLink, GIVE_ANSWER, READ_ANSWER } from '../../src/server/answer-links.ts';
import { setStage, shareStage } from './stage.ts';
import type { Stage } from './stage.ts';

const PUBLIC = 'https://troupe.example';
/** The page for answers is served as it is. */
const UI = join(import.meta.dirname, '../../ui/public');
const NO_LINK = expect.stringMatching(/^This link is not valid, was used, or has expired/) as string;

interface Said {
  readonly status: number | undefined;
  readonly body: unknown;
}

/** A request as a phone sends it through a tunnel: the names are the public ones. */
function visit(
  { port }: Pick<Stage, 'port'>,
  path: string,
  { body, headers = {} }: { body?: object; headers?: Record<string, string | undefined> } = {},
): Promise<Said> {
  const given = {
    host: 'troupe.example',
    ...(body && { origin: PUBLIC, 'content-type': 'application/json' }),
    ...headers,
  };
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method: body ? 'POST' : 'GET', headers: known, agent: false };
    const sent = ask(options as object, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        const isJson = response.headers['content-type']?.includes('json');
        resolve({ status: response.statusCode, body: isJson ? JSON.parse(text) : text });
      });
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

async function raise(stage: Stage, content = 'Which database?'): Promise<TeamRequest> {
  const question = { choices: ['SQLite', 'Postgres'], freeText: true };
  const asked = { teamId: stage.teamId, memberId: 'worker', kind: 'question', content, question } as const;
  return (await stage.act('request.raise', asked, 'worker')) as unknown as TeamRequest;
}

function linkTo({ hub, teamId }: Stage, { id: requestId, revision = '' }: TeamRequest, at = Date.now()): string {
  return new URL(answerLink(hub.credentials, PUBLIC, { teamId, requestId, revision, at })).hash.slice(1);
}

describe('a link that answers a request', () => {
  const shared = shareStage({ answers: PUBLIC, ui: UI, limits: { authDelayMs: 1 } });

  test('shows the whole request, takes one answer, and is then used', async () => {
    const stage = await shared().aside();
    const long = `Which database?\n${'x'.repeat(3_000)} the end`;
    const request = await raise(stage, long);
    const link = linkTo(stage, request);
    const read = await visit(stage, READ_ANSWER, { body: { link } });
    expect(read).toMatchObject({ status: 200, body: { content: long, choices: ['SQLite', 'Postgres'] } });
    const given = { link, approve: true, choice: 'SQLite' };
    expect(await visit(stage, GIVE_ANSWER, { body: given })).toEqual({ status: 200, body: { answered: true } });
    const [answered] = await stage.act('request.list', { teamId: stage.teamId });
    expect(answered).toMatchObject({ status: 'approved', choice: 'SQLite', answeredBy: '@user' });
    for (const path of [READ_ANSWER, GIVE_ANSWER]) {
      const again = await visit(stage, path, { body: path === READ_ANSWER ? { link } : given });
      expect(again).toEqual({ status: 404, body: { error: { code: 'not_found', message: NO_LINK } } });
    }
  });

  test('approves or rejects a plan, with what was written about it', async () => {
    const stage = await shared().aside();
    const { teamId } = stage;
    for (const [given, expected] of [
      [
        { approve: true, feedback: 'Good' },
        { status: 'approved', feedback: 'Good' },
      ],
      [
        { approve: false, feedback: 'Too long' },
        { status: 'rejected', feedback: 'Too long' },
      ],
      [{ approve: false }, { status: 'rejected', feedback: 'Rejected' }],
    ] as const) {
      const plan = { teamId, content: 'First this, then that', filePath: '/tmp/plan.md' };
      const request = (await stage.act('plan.submit', plan, 'worker')) as unknown as TeamRequest;
      const link = linkTo(stage, request);
      expect(await visit(stage, READ_ANSWER, { body: { link } })).toMatchObject({
        status: 200,
        body: { title: `plan of worker, team ${teamId}`, yes: 'Approve the plan', details: [['file', '/tmp/plan.md']] },
      });
      const { body } = await visit(stage, READ_ANSWER, { body: { link } });
      expect(body).not.toHaveProperty('deadline');
      expect(await visit(stage, GIVE_ANSWER, { body: { link, ...given } })).toMatchObject({ status: 200 });
      expect((await stage.act('request.list', { teamId })).find(({ id }) => id === request.id)).toMatchObject(expected);
    }
  });

  test('shows what a program is told, which task it is about, and how much more a budget gets', async () => {
    const stage = await shared().aside();
    const { teamId } = stage;
    const { id: taskId } = await stage.act('task.create', { teamId, title: 'Costly', budget: { tokens: 5 } });
    await stage.act('task.claim', { teamId, taskId }, 'worker');
    await stage.act('usage.record', { teamId, memberId: 'worker', taskId, usage: { inputTokens: 5 } }, 'worker');
    const detail = { of: 'task', what: 'tokens', grants: 5, note: { of: 'worker' } };
    const asks = { memberId: 'worker', kind: 'budget', taskId, content: 'More?', detail } as const;
    const raise = { type: 'request.raise', by: SYSTEM, ...asks, within: 60_000 } as const;
    const request = await stage.ledger.execute(
      teamId,
      raise,
      ({ requests }) => [...requests.values()][0] as TeamRequest,
    );
    expect(await visit(stage, READ_ANSWER, { body: { link: linkTo(stage, request) } })).toMatchObject({
      status: 200,
      body: {
        title: `budget of worker, team ${teamId}, task #${taskId}`,
        yes: 'Allow 5 tokens more',
        no: 'Allow no more',
        details: [
          ['of', 'task'],
          ['what', 'tokens'],
          ['grants', '5'],
          ['note', '{\n  "of": "worker"\n}'],
        ],
        choices: [],
        freeText: true,
        deadline: expect.any(Number) as number,
      },
    });
    const other = { teamId, memberId: 'worker', kind: 'permission', content: 'May I?', detail } as const;
    const permission = (await stage.act('request.raise', other, 'worker')) as unknown as TeamRequest;
    expect(await visit(stage, READ_ANSWER, { body: { link: linkTo(stage, permission) } })).toMatchObject({
      body: { yes: 'Allow', no: 'Deny' },
    });
  });

  test('shows whether a question takes another answer than its choices; a no takes none of them', async () => {
    const stage = await shared().aside();
    const { teamId } = stage;
    const question = { choices: ['SQLite', 'Postgres'], freeText: false };
    const about = { teamId, memberId: 'worker', kind: 'question', content: 'Which?', question } as const;
    const request = (await stage.act('request.raise', about, 'worker')) as unknown as TeamRequest;
    const link = linkTo(stage, request);
    expect(await visit(stage, READ_ANSWER, { body: { link } })).toMatchObject({ body: { freeText: false } });
    const no = { link, approve: false, choice: 'SQLite', feedback: 'You decide' };
    expect(await visit(stage, GIVE_ANSWER, { body: no })).toMatchObject({ status: 200 });
    const [answered] = await stage.act('request.list', { teamId });
    expect(answered).toMatchObject({ status: 'rejected', feedback: 'You decide' });
    expect(answered).not.toHaveProperty('choice');
  });

  test('is given for no request that only a member answers', async () => {
    const stage = await shared().aside();
    const { teamId } = stage;
    await stage.act('shutdown.request', { teamId, memberId: 'worker', within: 60_000 });
    const [request] = await stage.act('request.list', { teamId });
    expect(request).toMatchObject({ kind: 'shutdown', status: 'pending' });
    const link = linkTo(stage, request as unknown as TeamRequest);
    for (const [path, given] of [
      [READ_ANSWER, { link }],
      [GIVE_ANSWER, { link, approve: true }],
    ] as const) {
      expect(await visit(stage, path, { body: given })).toMatchObject({ status: 404 });
    }
  });

  test('of a deleted team is not valid; while the journal cannot be read, that is said', async () => {
    const stage = await setStage({ answers: PUBLIC, limits: { authDelayMs: 1 } });
    const link = linkTo(stage, await raise(stage));
    const gone = linkTo({ ...stage, teamId: 'gone' }, { id: 'question-1@worker' } as TeamRequest);
    expect(await visit(stage, READ_ANSWER, { body: { link: gone } })).toMatchObject({
      status: 404,
      body: { error: { message: NO_LINK } },
    });
    await stage.ledger.close();
    expect(await visit(stage, READ_ANSWER, { body: { link } })).toMatchObject({
      status: 503,
      body: { error: { code: 'storage' } },
    });
  });

  test('is bound to its request and revision, is signed, and ends', async () => {
    const stage = await shared().aside();
    const request = await raise(stage);
    const link = linkTo(stage, request);
    const [body = '', signature = ''] = link.split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as unknown[];
    const forged = Buffer.from(JSON.stringify([claims[0], 'other', ...claims.slice(2)])).toString('base64url');
    const wrong = [
      '',
      'x',
      `${forged}.${signature}`,
      `${body}.${signature}x`,
      stage.tokens.lead.slice(4),
      linkTo(stage, { ...request, revision: 'other' }),
      linkTo(stage, { ...request, id: 'question-1@nobody' }),
    ];
    for (const one of wrong) {
      expect(await visit(stage, READ_ANSWER, { body: { link: one } }), one).toMatchObject({ status: 404 });
    }
    expect(await visit(stage, READ_ANSWER, { body: { link } })).toMatchObject({ status: 200 });
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const dated = (age: number) => linkTo(stage, request, Date.now() - age);
    const day = 24 * 3_600_000;
    expect(await visit(stage, READ_ANSWER, { body: { link: dated(day) } })).toMatchObject({ status: 200 });
    expect(await visit(stage, READ_ANSWER, { body: { link: dated(day + 1) } })).toMatchObject({ status: 404 });
  });

  test('answers nothing by a GET, and lets no other page in', async () => {
    const stage = await shared().aside();
    const request = await raise(stage);
    const link = linkTo(stage, request);
    const page = await visit(stage, ANSWER_PAGE, {
      headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site' },
    });
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('answer.js') as string });
    for (const path of [GIVE_ANSWER, READ_ANSWER]) expect((await visit(stage, path)).status).toBe(401);
    const body = { link, approve: true };
    for (const headers of [{ origin: 'https://evil.example' }, { host: 'evil.example' }, { origin: undefined }]) {
      const { status } = await visit(stage, GIVE_ANSWER, { body, headers });
      expect([401, 403]).toContain(status);
    }
    // No other call goes without a credential because of the page.
    const ours = { host: `127.0.0.1:${stage.port}`, origin: stage.url };
    const { rejected } = stage.hub.counters;
    expect((await visit(stage, '/api/teams', { body: { name: 'planted' }, headers: ours })).status).toBe(401);
    expect(stage.hub.counters.rejected).toBe(rejected + 1);
    expect((await visit(stage, GIVE_ANSWER, { headers: ours })).status).toBe(401);
    const [still] = await stage.act('request.list', { teamId: stage.teamId });
    expect(still?.status).toBe('pending');
  });

  test('opens nothing else under the public name, with any credential', async () => {
    const stage = shared();
    const headers = { authorization: `Bearer ${stage.token}` };
    for (const path of ['/', '/queue', '/api/teams', '/api/login', '/health', '/metrics', '/mcp', '/api/answer/x']) {
      expect(await visit(stage, path, { headers }), path).toMatchObject({ status: 403 });
    }
  });

  test('is void after credentials were revoked', async () => {
    const stage = await setStage({ answers: PUBLIC, limits: { authDelayMs: 1 } });
    const link = linkTo(stage, await raise(stage));
    expect((await visit(stage, READ_ANSWER, { body: { link } })).status).toBe(200);
    await stage.hub.credentials.rotate();
    expect((await visit(stage, READ_ANSWER, { body: { link } })).status).toBe(404);
  });
});

test('without the setting there are no such links', async () => {
  const stage = await setStage({ limits: { authDelayMs: 1 } });
  const link = linkTo(stage, await raise(stage));
  expect(await visit(stage, READ_ANSWER, { body: { link } })).toMatchObject({ status: 403 });
  const own = `127.0.0.1:${stage.port}`;
  const headers = { host: own, origin: `http://${own}` };
  const { rejected } = stage.hub.counters;
  expect(await visit(stage, READ_ANSWER, { body: { link }, headers })).toMatchObject({ status: 401 });
  expect(stage.hub.counters.rejected).toBe(rejected + 1);
});

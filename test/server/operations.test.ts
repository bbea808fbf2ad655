import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { OPERATIONS } from '../../src/operations/index.ts';
import type { OperationName } from '../../src/operations/index.ts';
import { Teammate } from '../../src/operations/teammate-views.ts';
import { writeNativeTeam } from '../ui/native-team.ts';
import { SAMPLES } from './samples.ts';
import { setStage, shareStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, openWebSocket } from './wire.ts';

const shared = shareStage({ limits: { requestBurst: 1e6 } });

/** Operations on the server itself. All others work on teams, and each test has its own teams. */
const OF_THE_SERVER: ReadonlySet<string> = new Set<OperationName>(['token.rotate', 'daemon.stop']);

const prepare = async (name: string): Promise<{ stage: Stage; input: Record<string, unknown>; as?: string }> => {
  const stage = await (OF_THE_SERVER.has(name) ? setStage() : shared().aside());
  const { input, ...rest } = await SAMPLES[name as OperationName](stage);
  return { stage, input: { ...input }, ...rest };
};

describe('every operation', () => {
  test.each(OPERATIONS)('$name works over REST: $route', async ({ name, route, result }) => {
    const { stage, input, as } = await prepare(name);
    const [method = '', template = ''] = route.split(' ');
    const path = template.replace(/:(\w+)/g, (_, key: string) => {
      const value = input[key];
      delete input[key];
      return encodeURIComponent(String(value));
    });
    // As programs send it: inputs of a read or a delete are in the address, and there is no body.
    const hasBody = method !== 'GET' && method !== 'DELETE';
    const query = !hasBody ? `?${new URLSearchParams(input as Record<string, string>).toString()}` : '';
    const answer = await fetch(stage.url + path + query, {
      method,
      headers: {
        authorization: `Bearer ${stage.token}`,
        'idempotency-key': `once-for-${stage.teamId}`,
        ...(hasBody && { 'content-type': 'application/json' }),
        ...(as !== undefined && { 'x-troupe-as': as }),
      },
      ...(hasBody && { body: JSON.stringify(input) }),
    });
    const body: unknown = await answer.json();
    expect({ status: answer.status, body }).toMatchObject({ status: 200 });
    expect(result.safeParse(body).error).toBeUndefined();
    expect(stage.errors).toEqual([]);
  });

  test.each(OPERATIONS)('$name works by its name over WebSocket and Unix socket', async ({ name, route, result }) => {
    const ready = await prepare(name);
    for (const kind of ['unix', 'ws'] as const) {
      // A read changes nothing, so that its sample serves twice.
      const isUsed = kind === 'ws' && !route.startsWith('GET ');
      const { stage, input, as } = isUsed ? await prepare(name) : ready;
      const wire =
        kind === 'unix'
          ? await openUnix(stage.home.socket, stage.token)
          : await openWebSocket(stage.url, { authorization: `Bearer ${stage.token}` });
      const answer = await wire.ask({ type: name, payload: input, ...(as !== undefined && { as }) });
      expect(answer).toMatchObject({ type: 'result' });
      expect(result.safeParse(answer['result']).error).toBeUndefined();
    }
  });

  const withMessage = OPERATIONS.flatMap((operation) =>
    operation.message ? [{ ...operation, ...operation.message }] : [],
  );
  test.each(withMessage)('$name works as the message $type', async ({ name, type, answer: answerType }) => {
    const { stage, input, as } = await prepare(name);
    const wire = await openWebSocket(stage.url, { authorization: `Bearer ${stage.token}` });
    const answer = await wire.ask({ type, payload: input, ...(as !== undefined && { as }) });
    expect(answer.type).toBe(answerType);
    expect(answer['result']).toBeUndefined();
  });
});

describe('a call over REST', () => {
  test('may be chunked, and may omit the body if there are no inputs', async () => {
    const stage = await setStage();
    const authorization = `Bearer ${stage.token}`;
    const pieces = ['{"title":"In pi', 'eces, \u00e9","prio', 'rity":"high"}'].map((piece) => Buffer.from(piece));
    const created = await fetch(`${stage.url}/api/teams/demo/tasks`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: new ReadableStream({
        pull(controller) {
          const piece = pieces.shift();
          if (piece) controller.enqueue(piece);
          else controller.close();
        },
      }),
      duplex: 'half',
    });
    const task = (await created.json()) as { id: string };
    expect({ status: created.status, task }).toMatchObject({
      status: 200,
      task: { title: 'In pieces, é', priority: 'high' },
    });
    const path = `${stage.url}/api/teams/demo/tasks/${task.id}`;
    expect((await fetch(path, { method: 'DELETE', headers: { authorization } })).status).toBe(200);
    // No such route, and still a proper answer.
    expect((await fetch(path, { method: 'PUT', headers: { authorization } })).status).toBe(405);
    expect(stage.errors).toEqual([]);
  });

  test('is done once under one idempotency key', async () => {
    const stage = await setStage();
    const create = async (key: string) => {
      const answer = await fetch(`${stage.url}/api/teams/demo/tasks`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${stage.token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ title: 'Once' }),
      });
      return ((await answer.json()) as { id: string }).id;
    };
    const [first, second, third] = [await create('a'), await create('a'), await create('b')];
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  test('finds its result again by its idempotency key, whatever happened in between', async () => {
    const stage = await setStage();
    const send = async (key: string, path: string, body: object): Promise<unknown> => {
      const answer = await fetch(`${stage.url}/api/teams/demo/${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${stage.token}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify(body),
      });
      return answer.json();
    };
    const note = await send('a', 'notes', { text: 'Once' });
    await send('b', 'notes', { text: 'Another' });
    expect(await send('a', 'notes', { text: 'Once' })).toEqual(note);
    await stage.act('note.remove', { teamId: 'demo', noteId: '1' });
    expect(await send('a', 'notes', { text: 'Once' })).toMatchObject({ error: { code: 'not_found' } });
    const hook = { type: 'TaskCompleted', command: 'true' };
    expect(await send('c', 'hooks', hook)).toHaveLength(1);
    expect(await send('c', 'hooks', hook)).toHaveLength(1);
    expect(await send('d', 'hooks', hook)).toHaveLength(2);
  });

  test("fails with the error's code and status", async () => {
    const stage = await setStage();
    const headers = { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json' };
    const send = async (method: string, path: string, body?: string): Promise<[number, unknown]> => {
      const answer = await fetch(stage.url + path, { method, headers, ...(body !== undefined && { body }) });
      return [answer.status, ((await answer.json()) as { error: { code: unknown } }).error.code];
    };
    expect(await send('GET', '/api/teams/demo/tasks/99')).toEqual([404, 'not_found']);
    for (const what of [
      '',
      '/status',
      '/digest',
      '/digest?after=0',
      '/notes',
      '/search?query=x',
      '/hooks',
      '/sessions',
    ]) {
      expect(await send('GET', `/api/teams/absent${what}`)).toEqual([404, 'not_found']);
    }
    expect(await send('GET', '/api/teams/demo/members/absent/transcript')).toEqual([404, 'not_found']);
    expect(await send('POST', '/api/teams/demo/teammates', '{}')).toEqual([400, 'invalid']);
    expect(await send('POST', '/api/teams/demo/members/absent/stop', '{}')).toEqual([404, 'not_found']);
    expect(await send('POST', '/api/up', '{"source":"team: x","folder":"here"}')).toEqual([400, 'invalid']);
    expect(await send('POST', '/api/teams', '{"name":"demo"}')).toEqual([409, 'exists']);
    expect(await send('POST', '/api/teams', '{"name":')).toEqual([400, 'invalid']);
    expect(await send('POST', '/api/teams', '[]')).toEqual([400, 'invalid']);
    expect(await send('POST', '/api/teams', '{"name":"x","unknown":1}')).toEqual([400, 'invalid']);
    expect(await send('GET', '/api/teams/demo/tasks?limit=many')).toEqual([400, 'invalid']);
    expect(await send('GET', '/api/teams/demo/tasks?unknown=1')).toEqual([400, 'invalid']);
    expect(await send('POST', '/api/teams/demo/tasks?title=x', '{}')).toEqual([400, 'invalid']);
    expect(await send('POST', '/api/teams/demo/tasks', '{"teamId":"away","title":"x"}')).toEqual([400, 'invalid']);
    expect(await send('POST', '/api/nothing', '{}')).toEqual([404, 'not_found']);
  });

  test('reads numbers, booleans and lists from the query', async () => {
    const stage = await setStage();
    const { id } = await stage.act('message.send', { teamId: 'demo', toId: 'worker', content: 'Hello' }, 'lead');
    const headers = { authorization: `Bearer ${stage.tokens.worker}` };
    const read = async (query: string): Promise<unknown> =>
      (await fetch(`${stage.url}/api/teams/demo/inbox${query}`, { headers })).json();
    expect(await read('?unread=true&limit=1')).toMatchObject([{ id }]);
    await stage.act('message.read', { teamId: 'demo', memberId: 'worker', messageIds: [id] }, 'worker');
    expect(await read('?unread=true')).toEqual([]);
    expect(await read('?unread=false')).toMatchObject([{ id }]);
  });

  test('waits no longer than a browser would, and ends with its client', async () => {
    const stage = await setStage({ limits: { restWaitMs: 100 } });
    const headers = { authorization: `Bearer ${stage.tokens.worker}`, 'content-type': 'application/json' };
    const claim = (init: RequestInit = {}) =>
      fetch(`${stage.url}/api/teams/demo/claim`, { method: 'POST', headers, body: '{"wait":300000}', ...init });
    expect(await (await claim()).json()).toBe(null);
  });

  test('whose client disconnects while it waits takes nothing', async () => {
    const stage = await setStage();
    const headers = { authorization: `Bearer ${stage.tokens.worker}`, 'content-type': 'application/json' };
    const gone = new AbortController();
    const claim = fetch(`${stage.url}/api/teams/demo/claim`, {
      method: 'POST',
      headers,
      body: '{"wait":20000}',
      signal: gone.signal,
    });
    await expect.poll(() => stage.hub.counters.calls).toBeGreaterThan(0);
    gone.abort();
    await expect(claim).rejects.toThrow('abort');
    await expect.poll(() => stage.hub.connections).toBe(0);
    await stage.act('task.create', { teamId: 'demo', title: 'For whoever is there' });
    expect(await stage.act('task.list', { teamId: 'demo' })).toMatchObject([{ status: 'pending' }]);
  });
});

test("a person that calls a member's operation over REST is told to use the header", async () => {
  const stage = await setStage();
  const answer = await fetch(`${stage.url}/api/teams/demo/claim`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json' },
    body: '{}',
  });
  const message = expect.stringContaining('send the header X-Troupe-As with the name of a member') as string;
  expect(await answer.json()).toMatchObject({ error: { code: 'invalid', message } });
});

describe('a session that leads an open team', () => {
  const create = (name: string) => ({ name, leadSessionId: 'session-of-demo' });

  test('cannot lead a second one, whichever way it asks', async () => {
    const stage = await setStage();
    const refused = { code: 'conflict', message: expect.stringContaining('already leads team demo') as string };
    const answer = await fetch(`${stage.url}/api/teams`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(create('second')),
    });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ error: refused });
    await expect(stage.act('team.update', { teamId: 'away', leadSessionId: 'session-of-demo' })).rejects.toMatchObject(
      refused,
    );
    await stage.act('team.update', { teamId: 'demo', leadSessionId: 'session-of-demo' });
    await stage.act('team.close', { teamId: 'demo', force: true });
    expect(await stage.act('team.create', create('second'))).toMatchObject({ leadSessionId: 'session-of-demo' });
  });

  test('gets one of several that it asks for at once', async () => {
    const stage = await setStage();
    const asked = ['a', 'b', 'c'].map((name) => stage.act('team.create', { name, leadSessionId: 'another' }));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('programs that know agents instead of teams', () => {
  test.each(['lead@demo', 'session-of-demo'])('find the teammates and tasks of %s', async (id) => {
    const stage = await setStage();
    await stage.act('task.create', { teamId: 'demo', title: 'Shared' });
    const read = async (what: string): Promise<unknown> =>
      (
        await fetch(`${stage.url}/api/agents/${id}/${what}`, { headers: { authorization: `Bearer ${stage.token}` } })
      ).json();
    expect(await read('teammates')).toMatchObject([{ id: 'worker' }, { id: 'other' }]);
    expect(await read('team-tasks')).toMatchObject([{ title: 'Shared' }]);
  });

  test('get the lead, the team and the current task of each teammate', async () => {
    const stage = await setStage();
    await stage.act('task.create', { teamId: 'demo', title: 'Shared' });
    await stage.act('task.claim', { teamId: 'demo', taskId: '1' }, 'worker');
    const headers = { authorization: `Bearer ${stage.tokens.reader}` };
    const answer = await fetch(`${stage.url}/api/agents/lead@demo/teammates`, { headers });
    const team = { teamLeadId: 'lead@demo', teamName: 'demo' };
    const [worker, other] = (await answer.json()) as object[];
    expect(worker).toMatchObject({ agentId: 'worker@demo', ...team, status: 'active', currentTask: 'Shared' });
    expect(other).toMatchObject({ agentId: 'other@demo', ...team });
    expect(other).not.toHaveProperty('currentTask');
  });

  test.each(['team-lead@session-bugs', '5e9a1c30-0000-4000-8000-000000000001'])(
    "find those of a native team's lead by %s, with a person's credential",
    async (id) => {
      const stage = await setStage();
      writeNativeTeam(join(stage.home.directory, 'claude'));
      const read = (what: string, token: string): Promise<Response> =>
        fetch(`${stage.url}/api/agents/${id}/${what}`, { headers: { authorization: `Bearer ${token}` } });
      const team = { teamLeadId: 'team-lead@session-bugs', teamName: 'session-bugs' };
      const teammates = await read('teammates', stage.token);
      expect(z.array(Teammate).parse(await teammates.clone().json())).toMatchObject([
        { name: 'scout', agentId: 'scout@session-bugs', status: 'idle', ...team },
        { name: 'tester', status: 'active', currentTask: 'Write the failing test', ...team },
      ]);
      expect((await (await read('team-tasks', stage.token)).json()) as object[]).toMatchObject([
        { id: '1', title: 'Find where sessions are kept', status: 'completed', assigneeId: 'scout' },
        { id: '2', status: 'completed' },
        { id: '3', status: 'in_progress', assigneeId: 'tester' },
        { id: '4', status: 'blocked', dependencies: ['3'], blockedBy: ['3'] },
        { id: '5', status: 'pending' },
      ]);
      for (const what of ['teammates', 'team-tasks']) {
        expect((await read(what, stage.tokens.lead)).status).toBe(404);
      }
    },
  );

  test('get all tasks of a team, however many there are', async () => {
    const stage = await setStage();
    const many = Array.from({ length: 1_001 }, (_, at) => stage.act('task.create', { teamId: 'demo', title: `${at}` }));
    await Promise.all(many);
    const headers = { authorization: `Bearer ${stage.token}` };
    const answer = await fetch(`${stage.url}/api/agents/lead@demo/team-tasks`, { headers });
    expect(await answer.json()).toHaveLength(1_001);
  });

  test.each(['nobody@demo', 'lead@nowhere', 'none', 'unknown-session'])('find nothing for %s', async (id) => {
    const stage = await setStage();
    const headers = { authorization: `Bearer ${stage.token}` };
    expect((await fetch(`${stage.url}/api/agents/${id}/teammates`, { headers })).status).toBe(404);
  });
});

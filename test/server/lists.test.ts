import { expect, test } from 'vitest';
import { Client } from '../../src/client/client.ts';
import { connectOnce } from '../../src/client/once.ts';
import { socketConnect } from '../../src/client/socket.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, openWebSocket } from './wire.ts';

const teamId = 'demo';

async function stageWithTasks(count: number): Promise<Stage> {
  const stage = await setStage();
  for (let i = 0; i < count; i++) await stage.act('task.create', { teamId, title: `T${i}` });
  return stage;
}

test('a partial list says so and has a cursor, on every connection', async () => {
  const stage = await stageWithTasks(5);
  for (const wire of [
    await openUnix(stage.home.socket, stage.token),
    await openWebSocket(stage.url, { authorization: `Bearer ${stage.token}` }),
  ]) {
    const byMessage = await wire.ask({ type: 'team_list_tasks', payload: { teamId, limit: 3 } });
    expect(byMessage).toMatchObject({ type: 'team_tasks', more: true, after: '3' });
    expect(byMessage['tasks']).toHaveLength(3);
    const rest = await wire.ask({ type: 'team_list_tasks', payload: { teamId, limit: 3, after: '3' } });
    expect(rest['tasks']).toMatchObject([{ id: '4' }, { id: '5' }]);
    expect(rest).not.toHaveProperty('more');
    // Exactly the limit, with nothing after it.
    const all = await wire.ask({ type: 'task.list', payload: { teamId, limit: 5 } });
    expect(all).not.toHaveProperty('more');
    const events = await wire.ask({ type: 'event.list', payload: { teamId, limit: 4 } });
    expect(events).toMatchObject({ more: true, after: 4 });
    const last = await wire.ask({ type: 'event.list', payload: { teamId, after: 4 } });
    expect(last).not.toHaveProperty('more');
  }
});

/** A team whose every list is too long for one answer. */
async function stageWithLongLists(): Promise<Stage> {
  const stage = await setStage();
  const { act } = stage;
  const text = 'x'.repeat(60_000);
  for (let i = 0; i < 30; i++) {
    await act('task.create', { teamId, title: `T${i}`, description: text });
    await act('message.send', { teamId, toId: 'worker', content: `${i} ${text}` }, 'lead');
  }
  for (let i = 0; i < 100; i++) await act('note.add', { teamId, text: `${i} ${text.slice(0, 16_000)}` }, 'worker');
  for (let i = 0; i < 12; i++) await act('plan.submit', { teamId, content: `${i} ${text.repeat(4)}` }, 'worker');
  return stage;
}

/** Each list, its length, and a filter whose result is too long for one answer. */
const LONG_LISTS = [
  ['task.list', 30, { limit: 20 }],
  ['message.inbox', 30, { limit: 20, unread: true }],
  ['note.list', 100, { limit: 60 }],
  ['request.list', 12, { kind: 'plan' }],
] as const;

test('an answer holds a part of a long list, on every connection, and the next call the rest', async () => {
  const stage = await stageWithLongLists();
  for (const wire of [
    await openUnix(stage.home.socket, stage.token),
    await openWebSocket(stage.url, { authorization: `Bearer ${stage.token}` }),
  ]) {
    for (const [type, count] of LONG_LISTS) {
      const ids: string[] = [];
      let pages = 0;
      for (let after: unknown; after !== undefined || pages === 0;) {
        const answer = await wire.ask({ type, as: 'worker', payload: { teamId, after } });
        expect(JSON.stringify(answer).length, type).toBeLessThan(900_000);
        ids.push(...(answer['result'] as { id: string }[]).map(({ id }) => id));
        after = answer['after'];
        expect(answer['more'], type).toBe(after === undefined ? undefined : true);
        pages++;
      }
      expect(pages, type).toBeGreaterThan(2);
      expect(new Set(ids).size, type).toBe(count);
      expect(ids, type).toHaveLength(count);
    }
  }
});

test('a client gets a long list whole, or up to its limit, in order', async () => {
  const stage = await stageWithLongLists();
  const client = new Client(socketConnect({ path: stage.home.socket, token: stage.token }));
  for (const [name, count, choice] of LONG_LISTS) {
    const direct = await stage.act(name, { teamId }, 'worker');
    expect(direct, name).toHaveLength(count);
    expect(await client.call(name, { teamId }, { as: 'worker' }), name).toEqual(direct);
    const some = await client.call(name, { teamId, ...choice }, { as: 'worker' });
    expect(some, name).toEqual(await stage.act(name, { teamId, ...choice }, 'worker'));
  }
  // Marking messages of one page as read removes none from the next page.
  const mail = await client.call('message.inbox', { teamId, unread: true, markRead: true }, { as: 'worker' });
  expect(mail).toHaveLength(30);
  expect(await client.call('message.inbox', { teamId, unread: true }, { as: 'worker' })).toEqual([]);
  for (const name of ['message.inbox', 'request.list'] as const) {
    const asked = client.call(name, { teamId, after: 'nothing' }, { as: 'worker' });
    await expect(asked, name).rejects.toMatchObject({ code: 'not_found' });
  }
  client.close();
});

test('the tasks of an agent’s team come all at once, however long they are', async () => {
  const stage = await stageWithLongLists();
  const answer = await fetch(`${stage.url}/api/agents/lead@demo/team-tasks`, {
    headers: { authorization: `Bearer ${stage.tokens.worker}` },
  });
  expect(answer.headers.get('content-type')).toContain('application/json');
  expect(await answer.json()).toEqual(await stage.act('task.list', { teamId }));
});

test('over REST the next page is a link', async () => {
  const stage = await stageWithTasks(5);
  const get = (path: string): Promise<Response> =>
    fetch(`${stage.url}${path}`, { headers: { authorization: `Bearer ${stage.token}` } });
  const first = await get(`/api/teams/${teamId}/tasks?status=pending&limit=2`);
  expect(await first.json()).toHaveLength(2);
  const link = /^<([^>]*)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  expect(link).toBe(`/api/teams/${teamId}/tasks?status=pending&limit=2&after=2`);
  expect(await (await get(link)).json()).toMatchObject([{ id: '3' }, { id: '4' }]);
  const whole = await get(`/api/teams/${teamId}/tasks`);
  expect(whole.headers.get('link')).toBeNull();
});

test('a client learns with the answer whether there is more', async () => {
  const stage = await stageWithTasks(3);
  const heard: (string | number)[] = [];
  const onMore = (after: string | number): void => void heard.push(after);
  const client = new Client(socketConnect({ path: stage.home.socket, token: stage.token }));
  expect(await client.call('task.list', { teamId, limit: 2 }, { onMore })).toHaveLength(2);
  expect(await client.call('task.list', { teamId }, { onMore })).toHaveLength(3);
  client.close();
  const once = connectOnce(stage.home.socket, stage.token, { onMore });
  await once.call({ type: 'task.list', payload: { teamId, limit: 1 } });
  once.close();
  expect(heard).toEqual(['2', '1']);
});

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

test('a list that is not all says so and from where it goes on, on every connection', async () => {
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
    // As many as were asked for, and nothing after them.
    const all = await wire.ask({ type: 'task.list', payload: { teamId, limit: 5 } });
    expect(all).not.toHaveProperty('more');
    const events = await wire.ask({ type: 'event.list', payload: { teamId, limit: 4 } });
    expect(events).toMatchObject({ more: true, after: 4 });
    const last = await wire.ask({ type: 'event.list', payload: { teamId, after: 4 } });
    expect(last).not.toHaveProperty('more');
  }
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

test('a client hears of it with the answer', async () => {
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

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { followWork } from '../../src/cli/commands/up/follow.ts';
import type { Client } from '../../src/client/client.ts';
import { connect, serve, temporaryHome } from '../daemon/serve.ts';

const SCREEN = { isTerminal: false, hasColor: false, columns: Infinity, now: 0 };

test('reports every event, even if the state of the team is ahead of the events received', async () => {
  const home = temporaryHome();
  await serve(home);
  const client = connect(home);
  const teamId = 'demo';
  await client.call('team.create', { name: teamId });
  for (const title of ['First', 'Second']) await client.call('task.create', { teamId, title });
  const { promise: listens, resolve: nowListens } = Promise.withResolvers<void>();
  // As on a busy machine: all tasks are done before the first call is answered.
  const slow = {
    call: async (...given: Parameters<Client['call']>) => {
      await sleep(100);
      return client.call(...given);
    },
    subscribe: (...given: Parameters<Client['subscribe']>) => {
      nowListens();
      return client.subscribe(...given);
    },
  } as Client;
  const lines: string[] = [];
  const following = followWork(slow, teamId, {
    screen: SCREEN,
    json: false,
    signal: new AbortController().signal,
    tell: (line) => lines.push(line),
  });
  await listens;
  for (const taskId of ['1', '2']) {
    await client.call('task.claim', { teamId, taskId }, { as: 'lead' });
    await client.call('task.complete', { teamId, taskId }, { as: 'lead' });
  }
  expect(await following).toMatchObject({ reason: 'done' });
  expect(lines.join('')).toMatch(/claimed task #1[^]*completed task #1[^]*claimed task #2[^]*completed task #2/);
});

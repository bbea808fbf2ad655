import { expect, test } from 'vitest';
import { until } from '../until.ts';
import { connect, serve, temporaryHome } from './serve.ts';

const teamId = 'demo';

test('a claim with a lease ends when its holder is silent, also across a restart', async () => {
  const home = temporaryHome();
  const first = await serve(home);
  const client = connect(home);
  await client.call('team.create', { name: teamId });
  await client.call('member.add', { teamId, name: 'ada' });
  await client.call('task.create', { teamId, title: 'By hand' });
  const held = await client.call('task.claim', { teamId, lease: 3_600_000 }, { as: 'ada' });
  expect(held).toMatchObject({ id: '1', lease: 3_600_000, leaseUntil: expect.any(String) });
  await client.call('task.release', { teamId, taskId: '1' }, { as: 'ada' });
  await client.call('task.claim', { teamId, taskId: '1', lease: 1_000 }, { as: 'ada' });
  await client.call('daemon.stop', {});
  await first.ended;
  await serve(home);
  await until('the next daemon has released it', async () => {
    const task = await client.call('task.show', { teamId, taskId: '1' });
    return task.status === 'pending' && task.epoch === 4;
  });
  const inbox = await client.call('message.inbox', { teamId, memberId: 'ada' });
  expect(inbox).toMatchObject([{ fromId: '@system', content: expect.stringContaining('Your claim of task #1') }]);
});

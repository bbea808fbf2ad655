import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { connect, serve, temporaryHome } from './serve.ts';

test('nobody can claim a new task before its hook has judged it, even if the daemon is killed meanwhile', async () => {
  const home = temporaryHome();
  const [go, runs] = [join(temporaryFolder(), 'go'), join(temporaryFolder(), 'runs')];
  const first = await serve(home);
  const client = connect(home);
  await client.call('team.create', { name: 'crew' });
  await client.call('member.add', { teamId: 'crew', name: 'ann' });
  const command = `echo $$ >> ${runs}; until [ -e ${go} ]; do sleep 0.05; done`;
  await client.call('hook.register', { teamId: 'crew', type: 'TaskCreated', command });

  const creating = client.call('task.create', { teamId: 'crew', title: 'Judged' }, { commandId: 'once' });
  const claim = () => client.call('task.claim', { teamId: 'crew' }, { as: 'ann' });
  await until('the hook runs', () => existsSync(runs));
  expect(await claim()).toBeNull();
  // The counts agree with the list.
  expect(await client.call('task.list', { teamId: 'crew' })).toMatchObject([{ status: 'blocked' }]);
  expect(await client.call('team.status', { teamId: 'crew' })).toMatchObject({ tasks: { pending: 0, blocked: 1 } });
  first.child.kill('SIGKILL');
  await first.ended;

  // The client sends the call again under its id. The new daemon has found the task by itself.
  await serve(home);
  expect(await claim()).toBeNull();
  writeFileSync(go, '');
  expect(await creating).toMatchObject({ id: '1', title: 'Judged', status: 'pending' });
  expect(await claim()).toMatchObject({ id: '1', assigneeId: 'ann' });
  expect(await client.call('task.list', { teamId: 'crew' })).toHaveLength(1);
});

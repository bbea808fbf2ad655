import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ResultOf } from '../../../src/operations/index.ts';
import { openApart } from '../../mcp/apart.ts';
import { write } from '../../workspaces/project.ts';

test('a member without a task gets what the setup makes of the new tip when its turn ends', async () => {
  const files = { '.gitignore': 'made\n', 'package-lock.json': '1\n' };
  const { house, folder } = await openApart({ files, setup: 'cat package-lock.json >> made' });
  const made = async (memberId: string) => readFileSync(join(await folder(memberId), 'made'), 'utf8');
  await house.call('work.save', { teamId: 'demo', memberId: 'alice' }, 'alice');
  expect(await made('alice')).toBe('1\n');

  await house.call('task.create', { teamId: 'demo', title: 'New lock' });
  await house.call('task.claim', { teamId: 'demo', taskId: '1' }, 'bob');
  await house.call('work.begin', { teamId: 'demo', memberId: 'bob', taskId: '1', epoch: 1 }, 'bob');
  write(await folder('bob'), { 'package-lock.json': '2\n' });
  await house.call('task.complete', { teamId: 'demo', taskId: '1' }, 'bob');
  expect(await made('alice')).toBe('1\n');
  await house.call('work.save', { teamId: 'demo', memberId: 'alice' }, 'alice');
  expect(await made('alice')).toBe('1\n2\n');
  // Nothing changed, so it does not run again.
  await house.call('work.save', { teamId: 'demo', memberId: 'alice' }, 'alice');
  expect(await made('alice')).toBe('1\n2\n');
});

test('a setup that fails is told with the folder in which it ran', async () => {
  const { house } = await openApart({ files: { 'app/a.txt': 'a\n' }, setup: 'exit 3', prefix: 'app' });
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  await house.call('task.claim', { teamId: 'demo', taskId: '1' }, 'alice');
  const begun = house.call('work.begin', { teamId: 'demo', memberId: 'alice', taskId: '1', epoch: 1 }, 'alice');
  await expect(begun).rejects.toMatchObject({ code: 'member_stopped' });
  const open = { teamId: 'demo', status: 'pending' } as const;
  const [request] = await house.call<ResultOf<'request.list'>>('request.list', open);
  expect(request?.content).toMatch(/It ran in \S+\/workspaces\/demo\/alice\/app\./);
});

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shareStage } from '../server/stage.ts';
import { makeRepository, plainGit, write } from '../workspaces/project.ts';

const shared = shareStage();

test('a depot that somebody removes is made again from the checkout, and the work of members goes on', async () => {
  const { act, errors, home, ledger, teamId } = shared();
  const repository = join(home.directory, 'project');
  const base = makeRepository(repository);
  const work = { workspaces: 'own', repository, prefix: '', base, branch: 'troupe/demo' } as const;
  await ledger.execute(teamId, { type: 'team.update', by: '@user', work }, () => undefined);
  const begin = async (memberId: string) => {
    await act('member.add', { teamId, name: memberId, agent: { exec: ['true'] } });
    const { id: taskId } = await act('task.create', { teamId, title: `Task of ${memberId}` });
    const { epoch = 0 } = (await act('task.claim', { teamId, taskId }, memberId)) ?? {};
    const opened = await act('work.open', { teamId, memberId });
    await act('work.begin', { teamId, memberId, taskId, epoch }, memberId);
    return { taskId, epoch, folder: opened?.folder ?? '' };
  };
  const [ada, bob] = [await begin('ada'), await begin('bob')];
  write(ada.folder, { 'ada.txt': 'one\n' });
  await act('work.save', { teamId, memberId: 'ada' });
  const { depot = '' } = await act('work.show', { teamId });
  rmSync(depot, { recursive: true });
  write(ada.folder, { 'ada.txt': 'two\n' });
  write(bob.folder, { 'src/b.ts': 'of bob\n' });
  await Promise.all(['ada', 'bob'].map((memberId) => act('work.save', { teamId, memberId })));
  rmSync(depot, { recursive: true });
  await act('task.complete', { teamId, taskId: ada.taskId, epoch: ada.epoch }, 'ada');
  await act('task.complete', { teamId, taskId: bob.taskId, epoch: bob.epoch }, 'bob');
  const { tip = '', tasks } = await act('work.show', { teamId });
  expect(tasks?.map(({ state }) => state)).toEqual(['landed', 'landed']);
  expect(['ada.txt', 'src/b.ts'].map((path) => plainGit(depot, 'show', `${tip}:${path}`))).toEqual(['two', 'of bob']);
  expect(errors).toEqual([]);
});

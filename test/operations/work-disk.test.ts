import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shareStage } from '../server/stage.ts';
import { makeRepository, write } from '../workspaces/project.ts';

const shared = shareStage();

test('workspaces are bounded: a new one is refused at the limit, the lead is told once, and nothing is deleted', async () => {
  const { act, home, ledger, teamId } = shared();
  const repository = join(home.directory, 'project');
  const base = makeRepository(repository);
  const limited = async (disk: number): Promise<void> => {
    const work = { workspaces: 'own', repository, prefix: '', base, branch: 'troupe/demo', limits: { disk } } as const;
    await ledger.execute(teamId, { type: 'team.update', by: '@user', work }, () => undefined);
  };
  await limited(1024 ** 2);
  for (const name of ['ada', 'bob', 'eve']) await act('member.add', { teamId, name, agent: { exec: ['true'] } });
  const open = (memberId: string) => act('work.open', { teamId, memberId });
  const ada = await open('ada');
  write(ada?.folder ?? '', { 'output.log': Buffer.alloc(900 * 1024, 'x') });
  // 80 % are reached, but not the limit: the lead is told before it is a problem.
  await open('bob');
  write(ada?.folder ?? '', { 'more.log': Buffer.alloc(400 * 1024, 'x') });
  for (let i = 0; i < 2; i++) {
    await expect(open('eve')).rejects.toMatchObject({
      code: 'limit',
      message: expect.stringMatching(
        /^The workspaces of team demo take 1\.\d MB, and may take 1\.0 MB\. No new workspace is opened/,
      ),
    });
  }
  // A workspace that exists works on.
  await open('ada');
  await act('work.save', { teamId, memberId: 'ada' });
  const mail = (await act('message.inbox', { teamId, memberId: 'lead' })).map(({ content }) => content);
  expect(mail).toEqual([
    expect.stringContaining('At the limit no new workspace is opened'),
    expect.stringContaining('No new workspace is opened, and nothing is deleted'),
  ]);
  const { disk, members } = await act('work.show', { teamId });
  expect(disk).toMatchObject({ limit: 1024 ** 2 });
  expect(members?.map(({ memberId }) => memberId).sort()).toEqual(['ada', 'bob']);
  const total = await act('work.disk', {});
  expect(total.teams).toEqual([{ teamId, used: disk?.used, limit: 1024 ** 2 }]);
  await limited(1024 ** 3);
  expect(await open('eve')).toMatchObject({ slot: expect.any(Number) });
});

test('work that is finished lands at the limit, also where gates judge it merged', async () => {
  const { act, home, ledger, teamId } = await shared().aside();
  const repository = join(home.directory, 'full');
  const base = makeRepository(repository);
  const limits = { disk: 1024 ** 2 };
  const work = { workspaces: 'own', repository, prefix: '', base, branch: 'troupe/full', limits } as const;
  await ledger.execute(teamId, { type: 'team.update', by: '@user', work }, () => undefined);
  await act('hook.register', { teamId, type: 'TaskCompleted', command: 'true' });
  const begin = async (memberId: string) => {
    await act('member.add', { teamId, name: memberId, agent: { exec: ['true'] } });
    const { id: taskId } = await act('task.create', { teamId, title: `Task of ${memberId}` });
    const { epoch = 0 } = (await act('task.claim', { teamId, taskId }, memberId)) ?? {};
    const opened = await act('work.open', { teamId, memberId });
    await act('work.begin', { teamId, memberId, taskId, epoch }, memberId);
    return { taskId, epoch, folder: opened?.folder ?? '' };
  };
  const [ada, bob] = [await begin('ada'), await begin('bob')];
  write(ada.folder, { 'ada.txt': 'ada\n', 'output.log': Buffer.alloc(2 * 1024 ** 2, 'x') });
  write(bob.folder, { 'bob.txt': 'bob\n' });
  await act('task.complete', { teamId, taskId: ada.taskId, epoch: ada.epoch }, 'ada');
  await act('task.complete', { teamId, taskId: bob.taskId, epoch: bob.epoch }, 'bob');
  const { tasks } = await act('work.show', { teamId });
  expect(tasks?.map(({ state }) => state)).toEqual(['landed', 'landed']);
});

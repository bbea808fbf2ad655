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

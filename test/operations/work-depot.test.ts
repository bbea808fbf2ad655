import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
  // With all others.
  rmSync(dirname(depot), { recursive: true });
  await act('task.complete', { teamId, taskId: ada.taskId, epoch: ada.epoch }, 'ada');
  await act('task.complete', { teamId, taskId: bob.taskId, epoch: bob.epoch }, 'bob');
  const { tip = '', tasks } = await act('work.show', { teamId });
  expect(tasks?.map(({ state }) => state)).toEqual(['landed', 'landed']);
  expect(['ada.txt', 'src/b.ts'].map((path) => plainGit(depot, 'show', `${tip}:${path}`))).toEqual(['two', 'of bob']);
  expect(errors).toEqual([]);
});

test('if landed work is lost with the depot, it is said, and the team goes on from what is left', async () => {
  const { act, errors, home, ledger } = await shared().aside();
  const teamId = 'loser';
  const repository = join(home.directory, 'lost-project');
  const base = makeRepository(repository);
  const work = { workspaces: 'own', repository, prefix: '', base, branch: 'troupe/loser' } as const;
  await act('team.create', { name: teamId });
  await ledger.execute(teamId, { type: 'team.update', by: '@user', work }, () => undefined);
  for (const name of ['ada', 'bob']) await act('member.add', { teamId, name, agent: { exec: ['true'] } });
  const begin = async (memberId: string) => {
    const { id: taskId } = await act('task.create', { teamId, title: `Task of ${memberId}` });
    const { epoch = 0 } = (await act('task.claim', { teamId, taskId }, memberId)) ?? {};
    const { folder = '' } = (await act('work.open', { teamId, memberId })) ?? {};
    await act('work.begin', { teamId, memberId, taskId, epoch }, memberId);
    const complete = () => act('task.complete', { teamId, taskId, epoch }, memberId);
    return { folder, complete };
  };
  const first = await begin('ada');
  write(first.folder, { 'first.txt': 'merged by the person\n' });
  await first.complete();
  const { depot = '', tip: kept = '' } = await act('work.show', { teamId });
  plainGit(repository, 'fetch', '-q', depot, 'refs/heads/troupe/loser:refs/heads/mine');
  const second = await begin('ada');
  write(second.folder, { 'second.txt': 'never merged\n' });
  await second.complete();
  // Bob's folder is at that tip, with work of his own in it.
  const third = await begin('bob');
  write(third.folder, { 'third.txt': 'of bob\n' });

  rmSync(depot, { recursive: true });
  const { tip, lost } = await act('work.show', { teamId });
  expect([tip, lost]).toEqual([kept, ['2']]);
  expect((await act('team.status', { teamId })).team.work?.lost).toMatchObject([{ taskId: '2' }]);
  const mail = await ledger.view(teamId, ({ messages }) => [...messages.values()].map(({ content }) => content));
  expect(mail).toContainEqual(expect.stringMatching(/Lost: what landed for #2\. The branch goes on from /));

  await third.complete();
  const after = await act('work.show', { teamId });
  // What his folder had of it is back with his work.
  const files = plainGit(depot, 'ls-tree', '--name-only', after.tip ?? '').split('\n');
  expect(files).toEqual(expect.arrayContaining(['first.txt', 'second.txt', 'third.txt']));
  expect(plainGit(depot, 'rev-parse', 'refs/heads/troupe/loser')).toBe(after.tip);
  expect(errors).toEqual([]);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shareStage } from '../server/stage.ts';
import { makeRepository, plainGit, write } from '../workspaces/project.ts';

const shared = shareStage();

test('a holder goes on from a restored save of an earlier task, and what landed since stays', async () => {
  const { act, home, ledger, teamId } = shared();
  const repository = join(home.directory, 'project');
  const base = makeRepository(repository);
  const work = { workspaces: 'own', repository, prefix: '', base, branch: 'troupe/demo' } as const;
  await ledger.execute(teamId, { type: 'team.update', by: '@user', work }, () => undefined);
  for (const name of ['ada', 'bob']) await act('member.add', { teamId, name, agent: { exec: ['true'] } });
  const begin = async (memberId: string) => {
    const { id: taskId } = await act('task.create', { teamId, title: `Task of ${memberId}` });
    const { epoch = 0 } = (await act('task.claim', { teamId, taskId }, memberId)) ?? {};
    const opened = await act('work.open', { teamId, memberId });
    await act('work.begin', { teamId, memberId, taskId, epoch }, memberId);
    return { taskId, epoch, folder: opened?.folder ?? '' };
  };
  const first = await begin('ada');
  write(first.folder, { 'draft.txt': 'an idea\n' });
  await act('work.save', { teamId, memberId: 'ada' });
  const [draft] = await act('work.saves', { teamId, memberId: 'ada' });
  expect(draft).toMatchObject({ taskId: first.taskId, files: 1 });
  write(first.folder, { 'draft.txt': 'something else\n' });
  await act('task.complete', { teamId, taskId: first.taskId, epoch: first.epoch }, 'ada');
  const other = await begin('bob');
  write(other.folder, { 'src/b.ts': 'of bob\n' });
  await act('task.complete', { teamId, taskId: other.taskId, epoch: other.epoch }, 'bob');

  const second = await begin('ada');
  write(second.folder, { 'second.txt': 'second\n' });
  const save = draft?.commit.slice(0, 10) ?? '';
  await expect(act('work.restore', { teamId, save })).rejects.toMatchObject({ code: 'conflict' });
  await act('member.update', { teamId, memberId: 'ada', status: 'idle' });
  const restored = await act('work.restore', { teamId, save });
  expect(restored).toMatchObject({ memberId: 'ada', taskId: second.taskId, commit: draft?.commit });
  expect(readFileSync(join(second.folder, 'draft.txt'), 'utf8')).toBe('an idea\n');
  const before = await act('work.saves', { teamId, memberId: 'ada' });
  expect(before.find(({ commit }) => commit === restored.before)).toMatchObject({
    files: 1,
    base: expect.not.stringContaining(base),
  });

  // Its process ended meanwhile, and begins the task again.
  await act('work.begin', { teamId, memberId: 'ada', taskId: second.taskId, epoch: second.epoch }, 'ada');
  expect(readFileSync(join(second.folder, 'draft.txt'), 'utf8')).toBe('an idea\n');
  write(second.folder, { 'draft.txt': 'something else\n', 'third.txt': 'third\n' });
  await act('task.complete', { teamId, taskId: second.taskId, epoch: second.epoch }, 'ada');
  const { depot = '', tip = '', tasks } = await act('work.show', { teamId });
  expect(tasks?.map(({ state }) => state)).toEqual(['landed', 'landed', 'landed']);
  const show = (path: string) => plainGit(depot, 'show', `${tip}:${path}`);
  expect(['draft.txt', 'src/b.ts', 'third.txt'].map(show)).toEqual(['something else', 'of bob', 'third']);
});

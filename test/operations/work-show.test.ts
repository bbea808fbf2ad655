import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { views } from '../../src/cli/show/views/member.ts';
import { shareStage } from '../server/stage.ts';
import { makeRepository, plainGit, write } from '../workspaces/project.ts';

const shared = shareStage();

test('the work of a team says which tasks somebody holds, and whether the checkout has the branch', async () => {
  const { act, home, ledger, teamId } = shared();
  const repository = join(home.directory, 'project');
  const base = makeRepository(repository);
  const work = { workspaces: 'own', repository, prefix: '', base, branch: 'troupe/demo' } as const;
  await ledger.execute(teamId, { type: 'team.update', by: '@user', work }, () => undefined);
  await act('member.add', { teamId, name: 'ada', agent: { exec: ['true'] } });
  const begin = async (title: string) => {
    const { id: taskId } = await act('task.create', { teamId, title });
    const { epoch = 0 } = (await act('task.claim', { teamId, taskId }, 'ada')) ?? {};
    const opened = await act('work.open', { teamId, memberId: 'ada' });
    await act('work.begin', { teamId, memberId: 'ada', taskId, epoch }, 'ada');
    return { taskId, epoch, folder: opened?.folder ?? '' };
  };
  const first = await begin('First');
  write(first.folder, { 'first.txt': 'first\n' });
  await act('task.complete', { teamId, taskId: first.taskId, epoch: first.epoch }, 'ada');
  const shown = await act('member.show', { teamId, memberId: 'ada' });
  const text = views['member.show']?.(shown, { isTerminal: false, hasColor: false, columns: Infinity, now: 0 }, {});
  expect(text).toMatch(new RegExp(`^ *directory +${first.folder}$`, 'm'));
  const second = await begin('Second');
  const held = await act('work.show', { teamId });
  expect(held).toMatchObject({ isMerged: false, tasks: [{ state: 'landed' }, { state: 'begun', isHeld: true }] });
  await act('task.release', { teamId, taskId: second.taskId });
  plainGit(repository, 'fetch', '-q', held.depot ?? '', 'refs/heads/troupe/demo');
  plainGit(repository, 'merge', '-q', '--no-edit', 'FETCH_HEAD');
  const merged = await act('work.show', { teamId });
  expect(merged).toMatchObject({ isMerged: true, tasks: [{ state: 'landed' }, { state: 'begun', isHeld: false }] });
  // A checkout that is gone has nothing; what the team did is shown as before.
  renameSync(repository, `${repository}-moved`);
  expect(await act('work.show', { teamId })).toMatchObject({ isMerged: false, tip: merged.tip, files: 1 });
});

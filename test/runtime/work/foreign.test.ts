import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HookResult } from '../../../src/core/hook.ts';
import { verdict } from '../../ledger/task-lists.ts';
import { plainGit, write } from '../../workspaces/project.ts';
import { openStage, TEAM } from './stage.ts';

test('a task that a member began before does not take over what it left to the merge queue', async () => {
  const { promise: judged, resolve: accept } = Promise.withResolvers<HookResult>();
  const stage = await openStage({ judge: async (taskId) => (taskId === '2' ? judged : verdict(0)) });
  const { ledger } = stage;
  const stop = async (memberId: string): Promise<void> => {
    const placed = { type: 'member.place', by: '@system', memberId, hostId: 'here' } as const;
    await ledger.execute(TEAM, placed, () => undefined);
  };
  // Its process ends before it has done anything for the first task.
  await stage.begin('ann', {});
  await stop('ann');
  await stage.begin('ann', { 'two.txt': 'two\n', 'a.txt': 'changed\n' });
  const done = stage.complete('ann', '2');
  done.catch(() => {});
  await expect.poll(() => ledger.view(TEAM, ({ tasks: all }) => all.get('2')?.work?.state)).toBe('submitted');
  await stop('ann');
  const { folder } = (await stage.works.open({ teamId: TEAM, memberId: 'ann' }))!;
  write(folder, { 'note.txt': 'by a person\n' });

  await stage.claim('ann', '1');
  // The note is kept, too, and named.
  const saves = plainGit(stage.depot, 'rev-list', '--objects', '--glob=refs/saves', '--glob=refs/earlier');
  expect(saves).toContain(' note.txt');
  expect(plainGit(folder, 'status', '--porcelain')).toBe('');
  expect(existsSync(join(folder, 'two.txt'))).toBe(false);
  accept(verdict(0));
  await done;
  expect(await stage.show('two.txt')).toBe('two');
  expect(stage.errors).toEqual([]);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HookResult } from '../../../src/core/hook.ts';
import { answerRequest } from '../../../src/ledger/answer-request.ts';
import { verdict } from '../../ledger/task-lists.ts';
import { plainGit, write } from '../../workspaces/project.ts';
import { openStage, TEAM } from './stage.ts';

/** The gate cannot judge the first task: a person is asked, and ann goes on with a second one in the same folder. */
async function openAsked() {
  const judge = async (taskId: string): Promise<HookResult | void> =>
    taskId === '1' ? { ...verdict(2), unable: 'The gate is broken' } : undefined;
  const stage = await openStage({ judge });
  await stage.begin('ann', { 'one.txt': 'one\n', 'a.txt': 'changed\n' });
  await expect(stage.complete('ann', '1')).rejects.toMatchObject({ code: 'gate_rejected' });
  await stage.begin('ann', { 'two.txt': 'two\n' });
  const requestId = await stage.ledger.view(
    TEAM,
    ({ requests }) => [...requests.values()].find(({ taskId }) => taskId === '1')!.id,
  );
  const answer = (approve: boolean) =>
    answerRequest(stage.ledger, stage.works, { teamId: TEAM, input: { requestId, approve }, once: {} });
  return { stage, answer, filesOf: async () => plainGit(stage.depot, 'ls-tree', '--name-only', await stage.tip()) };
}

test('work that a person accepts lands as it was handed in, while its holder does another task', async () => {
  const { stage, answer, filesOf } = await openAsked();
  await answer(true);
  expect(await filesOf()).toContain('one.txt');
  expect(await filesOf()).not.toContain('two.txt');
  expect(await stage.show('a.txt')).toBe('changed');
  await stage.complete('ann', '2');
  expect(await filesOf()).toContain('two.txt');
  const works = await stage.ledger.view(TEAM, ({ tasks }) => [...tasks.values()].map(({ work }) => work));
  expect(works).toMatchObject([
    { state: 'landed', files: 2, paths: ['a.txt', 'one.txt'] },
    { state: 'landed', files: 1, paths: ['two.txt'] },
  ]);
  await stage.expectAligned();
  expect(stage.errors).toEqual([]);
});

test('work that a person sends back is in the folder again when its holder goes on with it', async () => {
  const { stage, answer } = await openAsked();
  await stage.complete('ann', '2');
  await answer(false);
  const folder = await stage.claim('ann', '1');
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  expect([read('one.txt'), read('a.txt'), read('two.txt')]).toEqual(['one\n', 'changed\n', 'two\n']);
  const work = await stage.ledger.view(TEAM, ({ tasks }) => tasks.get('1')?.work);
  expect(work).toEqual({ memberId: 'ann', epoch: expect.any(Number), base: await stage.tip(), state: 'begun' });
});

test('work of no task is kept when the team is deleted, also if the next task began from the same commit', async () => {
  const stage = await openStage();
  await stage.begin('ann', {});
  await stage.complete('ann', '1');
  const { folder } = (await stage.works.open({ teamId: TEAM, memberId: 'ann' }))!;
  write(folder, { 'note.txt': 'by a person\n' });
  await stage.begin('ann', { 'two.txt': 'two\n' });
  await stage.complete('ann', '2');
  await stage.works.remove(TEAM);
  const [kept = ''] = plainGit(stage.depot, 'for-each-ref', '--format=%(refname)', 'refs/kept').split('\n');
  expect(plainGit(stage.depot, 'show', `${kept}:note.txt`)).toBe('by a person');
  expect(plainGit(stage.depot, 'for-each-ref', 'refs/saves', 'refs/earlier')).toBe('');
});

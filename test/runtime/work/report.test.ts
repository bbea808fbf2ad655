import { expect, test } from 'vitest';
import { answerRequest } from '../../../src/ledger/answer-request.ts';
import { diffWork } from '../../../src/runtime/work/compare.ts';
import { checkWork, reportWork } from '../../../src/runtime/work/report.ts';
import { verdict } from '../../ledger/task-lists.ts';
import { write } from '../../workspaces/project.ts';
import { openStage, TEAM } from './stage.ts';

test('work that landed is not said to be not handed in while its folder still has it', async () => {
  const stage = await openStage({ judge: async () => ({ ...verdict(2), unable: 'The gate is broken' }) });
  const { ledger, works } = stage;
  const filesOf = async (): Promise<unknown[]> => {
    const { files } = await checkWork(ledger, works, { teamId: TEAM, memberId: 'ann' });
    const report = await reportWork(ledger, works, { teamId: TEAM });
    return [files, report?.members.find(({ memberId }) => memberId === 'ann')?.files];
  };
  const id = await stage.begin('ann', { 'one.txt': 'one\n' });
  expect(await filesOf()).toEqual([1, 1]);
  await expect(stage.complete('ann', id)).rejects.toMatchObject({ code: 'gate_rejected' });
  const requestId = await ledger.view(TEAM, ({ requests }) => [...requests.keys()][0]!);
  // As if the daemon ended after the landing, before the folder is brought to the tip.
  const ended = { ...works, settled: async () => {} };
  await answerRequest(ledger, ended, { teamId: TEAM, input: { requestId, approve: true }, once: {} });
  expect(await stage.show('one.txt')).toBe('one');
  expect(await filesOf()).toEqual([0, 0]);
  const { folder } = (await works.open({ teamId: TEAM, memberId: 'ann' }))!;
  write(folder, { 'two.txt': 'two\n' });
  expect(await filesOf()).not.toContain(0);
});

test('a report and a difference say the same of what a member has not handed in, also without a save before', async () => {
  let isHeldUp = true;
  const entered = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const stage = await openStage({
    judge: async () => {
      if (!isHeldUp) return;
      entered.resolve();
      await goOn.promise;
    },
  });
  const { ledger, works } = stage;
  const said = async (): Promise<unknown> => {
    const report = await reportWork(ledger, works, { teamId: TEAM });
    const { files } = await diffWork(ledger, works, { teamId: TEAM, of: 'ann' });
    return [report?.members.find(({ memberId }) => memberId === 'ann')?.files, files.length];
  };
  // A member at rest: nothing saves its folder.
  const { folder } = (await works.open({ teamId: TEAM, memberId: 'ann' }))!;
  expect(await said()).toEqual([0, 0]);
  write(folder, { 'by-hand.txt': 'by hand\n' });
  expect(await said()).toEqual([1, 1]);
  const id = await stage.begin('ann', { 'one.txt': 'one\n', 'two.txt': 'two\n' });
  expect(await said()).toEqual([2, 2]);
  // What waits to land is handed in.
  const completed = stage.complete('ann', id);
  await entered.promise;
  expect(await said()).toEqual([0, 0]);
  isHeldUp = false;
  goOn.resolve();
  await completed;
  expect(await said()).toEqual([0, 0]);
});

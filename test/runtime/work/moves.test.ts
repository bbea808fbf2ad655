import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refreshWork } from '../../../src/runtime/work/refresh.ts';
import { restoreWork } from '../../../src/runtime/work/saves.ts';
import type { TeamWorks } from '../../../src/runtime/work/team-works.ts';
import { until } from '../../until.ts';
import { openStage, TEAM } from './stage.ts';

const ANN = { teamId: TEAM, memberId: 'ann' };

/** A team whose member `ann` is idle and has a folder, and work of `bob` that lands after it. */
async function openIdle() {
  const stage = await openStage();
  const { ledger, works, tasks } = stage;
  const setStatus = (status: 'active' | 'idle') =>
    ledger.execute(TEAM, { type: 'member.change', by: 'ann', memberId: 'ann', status }, () => undefined);
  await stage.complete('ann', await stage.begin('ann', { 'ann.txt': '1\n' }));
  await setStatus('idle');
  const { folder } = await works.workspaceOf(ANN);
  const land = async (file: string) => stage.complete('bob', await stage.begin('bob', { [file]: 'bob\n' }));
  await land('before.txt');
  const { id } = await tasks.createTask(TEAM, 'lead', { title: 'Next', assigneeId: 'ann' });
  const beginTurn = async () => {
    await setStatus('active');
    await stage.claim('ann', id);
  };
  return { ...stage, folder, land, beginTurn, has: (file: string) => existsSync(join(folder, file)) };
}

/** Does something before it is a caller's turn to move a folder. */
function beforeMoving(works: TeamWorks, work: () => Promise<void>): TeamWorks {
  const alone: TeamWorks['alone'] = async (worker, move) => {
    await work();
    return works.alone(worker, move);
  };
  return Object.create(works, { alone: { value: alone } }) as TeamWorks;
}

test('a turn that begins after a person asked for a refresh keeps its files', async () => {
  const { works, ledger, land, beginTurn, has } = await openIdle();
  const slow = beforeMoving(works, async () => {
    await beginTurn();
    await land('later.txt');
  });
  const refreshed = refreshWork(ledger, slow, { ...ANN, isOwner: false });
  await expect(refreshed).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('in a turn') });
  expect([has('before.txt'), has('later.txt')]).toEqual([true, false]);
});

test('a turn that begins after a person asked for an earlier save keeps its files', async () => {
  const { works, ledger, beginTurn, has } = await openIdle();
  const workspace = await works.workspaceOf(ANN);
  const [save] = await workspace.saves();
  const slow = beforeMoving(works, beginTurn);
  const restored = restoreWork({ ledger, works: slow }, { teamId: TEAM, save: save?.commit ?? '' });
  await expect(restored).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('in a turn') });
  expect(has('before.txt')).toBe(true);
});

test.for(['begin', 'save'] as const)('a turn waits at its %s until its folder was moved', async (step) => {
  const { works, ledger, beginTurn } = await openIdle();
  const order: string[] = [];
  let ready: Promise<unknown> = Promise.resolve();
  const workspaceOf: TeamWorks['workspaceOf'] = async (worker) => {
    const workspace = await works.workspaceOf(worker);
    const refresh: typeof workspace.refresh = async (...words) => {
      ready = (step === 'begin' ? beginTurn() : works.saveNow(ANN)).then(() => order.push(step));
      // It would be ready in the time of a few saves.
      for (let i = 0; i < 20; i++) await workspace.save();
      const moved = await workspace.refresh(...words);
      order.push('moved');
      return moved;
    };
    return Object.create(workspace, { refresh: { value: refresh } }) as typeof workspace;
  };
  const slow = Object.create(works, { workspaceOf: { value: workspaceOf } }) as TeamWorks;
  await refreshWork(ledger, slow, { ...ANN, isOwner: false });
  await ready;
  expect(order).toEqual(['moved', step]);
});

test('a landing leaves the folder to the task that its holder has begun meanwhile', async () => {
  const stage = await openStage();
  const { works, ledger, tasks, base } = stage;
  const first = await stage.begin('ann', { 'ann.txt': '1\n' });
  const workspace = await works.workspaceOf(ANN);
  const { promise: enough, resolve: go } = Promise.withResolvers<void>();
  const holding = works.alone(ANN, () => enough);
  const completed = stage.complete('ann', first);
  await until('it landed', () => ledger.view(TEAM, (state) => state.tasks.get(first)?.work?.state === 'landed'));
  const { id: taskId } = await tasks.createTask(TEAM, 'lead', { title: 'Next', assigneeId: 'ann' });
  const { epoch } = await tasks.claimTask(TEAM, taskId, 'ann');
  const begun = { type: 'work.begin', by: 'ann', taskId, memberId: 'ann', epoch, base } as const;
  await ledger.execute(TEAM, begun, () => undefined);
  go();
  await Promise.all([holding, completed]);
  expect(workspace.base).toBe(base);
});

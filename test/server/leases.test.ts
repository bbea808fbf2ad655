import { expect, test } from 'vitest';
import { until } from '../until.ts';
import { setStage } from './stage.ts';

test('any call of a holder renews its lease, also one that only reads; calls of others do not', async () => {
  const { act, ledger, teamId } = await setStage();
  const { id: taskId } = await act('task.create', { teamId, title: 'By hand' });
  const lease = 3_600_000;
  const claim = { type: 'task.claim', by: 'worker', taskId, lease, at: Date.now() - lease / 2 } as const;
  await ledger.execute(teamId, claim, () => undefined);
  const { leaseUntil = '' } = await act('task.show', { teamId, taskId }, 'other');
  await act('task.list', { teamId });
  // Recorded after anything that these calls would have caused.
  await act('task.update', { teamId, taskId, title: 'By my hand' }, 'other');
  expect(await act('task.show', { teamId, taskId })).toMatchObject({ leaseUntil, title: 'By my hand' });
  await act('task.list', { teamId }, 'worker');
  await until('it is renewed', async () => {
    const { leaseUntil: now = '' } = await act('task.show', { teamId, taskId });
    return now > leaseUntil;
  });
});

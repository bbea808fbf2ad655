import { expect, test } from 'vitest';
import { BATCHES_TOLD } from '../../src/runtime/digest.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix } from './wire.ts';

const teamId = 'demo';

/** Counts the batches that are read from the journal. */
function countBatches({ ledger }: Stage): () => number {
  const read = ledger.read.bind(ledger);
  let count = 0;
  ledger.read = async function* counted(...from) {
    for await (const batch of read(...from)) {
      count++;
      yield batch;
    }
  };
  return () => count;
}

async function endTask({ act }: Stage, title: string): Promise<void> {
  const { id: taskId } = await act('task.create', { teamId, title });
  await act('task.claim', { teamId, taskId }, 'worker');
  await act('task.complete', { teamId, taskId, result: `${title} is done` }, 'worker');
}

test('a digest reads only recent batches, not a long history', async () => {
  const stage = await setStage();
  await endTask(stage, 'Early');
  // One by one, because calls that wait together share a batch.
  for (let i = 0; i < BATCHES_TOLD; i++) await stage.act('note.add', { teamId, text: `Note ${i}` }, 'worker');
  const before = (await stage.ends())[teamId] as number;
  await endTask(stage, 'Late');
  await stage.act('task.create', { teamId, title: 'Left' });
  const batches = countBatches(stage);
  const wire = await openUnix(stage.home.socket, stage.tokens.lead);
  const digest = async (after?: number): Promise<{ seq: number; text: string }> =>
    (await wire.ask({ type: 'team.digest', payload: { teamId, after } }))['result'] as { seq: number; text: string };

  const recent = await digest(before);
  expect(batches()).toBe(4);
  expect(recent).toMatchObject({ seq: before + 4 });
  expect(recent.text).toContain('#2 completed: Late (worker) — Late is done');
  expect(recent.text).not.toContain('Early');
  // There is nothing after the last one.
  expect(await digest(before + 4)).toMatchObject({ seq: before + 4, text: '' });
  // A caller that is far behind gets the state of the team, like a new one.
  expect(await digest(1)).toEqual(await digest());
  expect((await digest(1)).text).toContain('Open tasks (1; 2 completed, 0 failed):\n#3 [pending] Left');
  expect(batches()).toBe(4);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { openQueues } from '../../src/workspaces/queue.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('work of one key is done in the order of the calls, and a failure concerns its caller alone', async () => {
  const queues = openQueues();
  const seen: string[] = [];
  const first = Promise.withResolvers<void>();
  const add = (key: string, text: string, until: Promise<void> = Promise.resolve()) =>
    queues(key, async () => {
      await until;
      seen.push(text);
      if (text === 'two') throw new Error(text);
      return text;
    });
  const done = Promise.allSettled([add('a', 'one', first.promise), add('a', 'two'), add('a', 'three')]);
  expect(await add('b', 'other')).toBe('other');
  first.resolve();
  expect(await done).toMatchObject([{ value: 'one' }, { reason: new Error('two') }, { value: 'three' }]);
  expect(seen).toEqual(['other', 'one', 'two', 'three']);
  expect(await add('a', 'again')).toBe('again');
});

test('of a key at rest nothing is kept', async () => {
  const queues = openQueues();
  const KEYS = 20_000;
  const heap = async (): Promise<number> => {
    // Promises settle first.
    await sleep(0);
    collect();
    return process.memoryUsage().heapUsed;
  };
  const use = async (round: string): Promise<void> => {
    for (let n = 0; n < KEYS; n++) await queues(`${round} ${n}`, async () => n);
  };
  await use('warm-up');
  const before = await heap();
  await use('another');
  // Each would take more than 100 bytes.
  expect((await heap()) - before).toBeLessThan(KEYS * 50);
});

import { onTestFinished } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { describeAppend } from './journal/append.ts';
import { describeFollow } from './journal/follow.ts';
import { describeLifecycle } from './journal/lifecycle.ts';
import type { OpenStore } from './journal/notes.ts';
import { describeRead } from './journal/read.ts';

/** Opens another handle on a store. A store in memory returns the same handle each time. */
export type OpenHandle = () => Journal | Promise<Journal>;

/**
 * Checks every sentence of the port's contract on an adapter. `makeStore` makes an empty store. A test makes at most
 * `most` teams; set it if that is slow.
 */
export function describeJournal(
  name: string,
  makeStore: () => OpenHandle | Promise<OpenHandle>,
  { most = 50 }: { most?: number } = {},
): void {
  const open: OpenStore = async () => {
    const openHandle = await makeStore();
    const journal = await openHandle();
    const other = await openHandle();
    onTestFinished(async () => {
      await Promise.all([journal.close(), other.close()]);
    });
    return { journal, other };
  };
  describeAppend(name, open, { most });
  describeRead(name, open);
  describeFollow(name, open);
  describeLifecycle(name, open, { most });
}

import { describe, expect, test } from 'vitest';
import type { Command } from '../../src/core/command.ts';
import { CommandQueue } from '../../src/ledger/command-queue.ts';
import type { Waiting } from '../../src/ledger/command-queue.ts';

/** Besides its own text, a command counts as 100 characters and the name of its type. */
const BARE = 100 + 'team.update'.length + '@user'.length;
const PER_COMMIT = 256 * 1024;
const MAY_WAIT = 32 * 1024 * 1024;

function openQueue() {
  const queue = new CommandQueue();
  const refused: unknown[] = [];
  /** Adds one command with so much text; the texts of several commands of one caller count together. */
  const add = (...sizes: number[]): void => {
    const commands = sizes.map((size): Command => {
      return { type: 'team.update', by: '@user', at: 0, description: 'x'.repeat(size - BARE) };
    });
    const waiting: Waiting = {
      at: 0,
      commands,
      pick: () => undefined,
      resolve: () => undefined,
      reject: (error) => void refused.push(error),
    };
    queue.add(waiting);
  };
  /** Adds one command with so much text in an object. */
  const metadata = (size: number): void => {
    const command: Command = { type: 'team.update', by: '@user', at: 0, metadata: { a: 'x'.repeat(size) } };
    const rest = {
      pick: () => undefined,
      resolve: () => undefined,
      reject: (error: unknown) => void refused.push(error),
    };
    queue.add({ at: 0, commands: [command], ...rest });
  };
  const taken = (): number => queue.take().length;
  return { queue, refused, add, metadata, taken };
}

/** So many commands wait without being measured. */
function fill(add: (size: number) => void): void {
  for (let i = 0; i < 64; i++) add(BARE);
}

describe('a commit takes', () => {
  test('nothing from an empty queue', () => {
    const { queue, taken } = openQueue();
    expect([queue.first, taken()]).toEqual([undefined, 0]);
  });

  test('at most 512 commands, the oldest first', () => {
    const { queue, add, taken } = openQueue();
    for (let i = 0; i < 513; i++) add(BARE);
    const { first } = queue;
    expect(queue.take()[0]).toBe(first);
    expect([queue.length, taken(), queue.length]).toEqual([1, 1, 0]);
  });

  test('commands until their text is as long as it may be, and one in any case', () => {
    const { queue, add, taken } = openQueue();
    add(PER_COMMIT - 1);
    add(PER_COMMIT);
    add(BARE);
    add(PER_COMMIT / 2, PER_COMMIT / 2);
    add(BARE);
    expect([taken(), taken(), taken(), queue.length]).toEqual([2, 2, 1, 0]);
  });
});

describe('of the text that waits', () => {
  test('that in objects and lists counts, too', () => {
    const { queue, refused, add, metadata } = openQueue();
    fill(add);
    metadata(MAY_WAIT - BARE);
    metadata(0);
    expect(refused).toHaveLength(1);
    expect(queue.length).toBe(65);
  });

  test('as much as the limit is let in, and no more', () => {
    const { queue, refused, add } = openQueue();
    fill(add);
    add(MAY_WAIT);
    expect(refused).toEqual([]);
    add(BARE);
    expect(refused).toMatchObject([{ code: 'overloaded', message: expect.stringContaining('with 32 MiB') }]);
    expect(queue.length).toBe(65);
  });

  test('that of the first 64 commands does not count', () => {
    const { queue, refused, add } = openQueue();
    for (let i = 0; i < 63; i++) add(BARE);
    add(MAY_WAIT);
    add(MAY_WAIT);
    expect(refused).toEqual([]);
    add(BARE);
    expect(refused).toHaveLength(1);
    expect(queue.length).toBe(65);
  });

  test('what a commit took counts no more, and the rest still does', () => {
    const { refused, add, taken } = openQueue();
    fill(add);
    add(MAY_WAIT / 2);
    fill(add);
    add(MAY_WAIT / 2 - 64 * BARE);
    add(BARE);
    expect(refused).toHaveLength(1);
    expect(taken()).toBe(65);
    // The text of the first half is free again.
    add(MAY_WAIT / 2);
    expect(refused).toHaveLength(1);
    add(BARE);
    expect(refused).toHaveLength(2);
  });

  test('nothing counts after the queue was empty', () => {
    const { refused, add, taken } = openQueue();
    for (let round = 0; round < 3; round++) {
      fill(add);
      add(MAY_WAIT);
      expect([taken(), taken()]).toEqual([65, 0]);
    }
    expect(refused).toEqual([]);
  });
});

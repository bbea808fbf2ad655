import { expect, test } from 'vitest';
import { keepingAnswers } from '../../src/workspaces/depot/lasting.ts';
import type { GitOptions, GitResult } from '../../src/workspaces/git.ts';
import { openStage } from './project.ts';

/** Answers as told, with the commands that were run. */
function openAsking(answer: (args: readonly string[]) => Partial<GitResult>, now?: () => number) {
  const ran: string[] = [];
  const run = async (args: readonly string[]): Promise<GitResult> => {
    ran.push(args.join(' '));
    await Promise.resolve();
    return { code: 0, out: Buffer.from('here'), err: '', isCut: false, ...answer(args) };
  };
  const ask = keepingAnswers(run, now);
  return { ask: (command: string, options?: GitOptions) => ask(command.split(' '), options), ran };
}

test('an answer is kept by its command and settings', async () => {
  const { ask, ran } = openAsking(([word]) => ({ out: Buffer.from(`${word}`) }));
  const first = await ask('tree 1');
  expect(await ask('tree 1')).toBe(first);
  expect((await ask('diff 1 2')).out.toString()).toBe('diff');
  await ask('tree 1', { config: ['core.bigFileThreshold=1'] });
  await ask('tree 1', { config: ['core.bigFileThreshold=1'] });
  expect(ran).toEqual(['tree 1', 'diff 1 2', 'tree 1']);
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(ask('tree 1', { signal })).rejects.toThrow('enough');
});

test.for([{ code: 1 }, { isCut: true }, { out: Buffer.alloc(300_000) }])('%j is asked for again', async (answer) => {
  const { ask, ran } = openAsking(() => answer);
  expect(await ask('one')).toMatchObject(answer);
  expect(await ask('one')).toMatchObject(answer);
  expect(ran).toHaveLength(2);
});

test('what was not asked for the longest is forgotten first', async () => {
  const { ask, ran } = openAsking(() => ({ out: Buffer.alloc(200_000) }));
  const names = Array.from({ length: 21 }, (_, at) => `${at}`);
  for (const name of names.slice(0, -1)) await ask(name);
  await ask('0');
  expect(ran).toHaveLength(20);
  await ask('20');
  await ask('0');
  expect(ran).toHaveLength(21);
  await ask('1');
  expect(ran).toHaveLength(22);
});

test('what nobody asked for in five minutes is forgotten when the next answer comes', async () => {
  let minutes = 0;
  const { ask, ran } = openAsking(
    () => ({}),
    () => minutes * 60_000,
  );
  await ask('old');
  await ask('used');
  minutes = 4;
  await ask('used');
  minutes = 6;
  await ask('new');
  await ask('used');
  expect(ran).toEqual(['old', 'used', 'new']);
  await ask('old');
  expect(ran).toEqual(['old', 'used', 'new', 'old']);
});

test('a small answer does not keep the page that Node cut it from', async () => {
  const { ask } = openAsking(() => ({ out: Buffer.from('small') }));
  const { out } = await ask('one');
  expect(out.toString()).toBe('small');
  expect(out.buffer.byteLength).toBe(5);
});

test('callers at the same time may each start git, and its answer counts once', async () => {
  const { ask, ran } = openAsking(() => ({ out: Buffer.alloc(250_000) }));
  await Promise.all(Array.from({ length: 40 }, () => ask('one')));
  expect(ran).toHaveLength(40);
  await ask('two');
  await ask('one');
  await ask('two');
  expect(ran).toHaveLength(41);
});

test('a refusal of the depot is not kept', async () => {
  const { checkout, depot } = await openStage();
  const missing = checkout.head.replace(/.{7}/, '0000000');
  await expect(depot.changes(checkout.head, missing)).rejects.toThrow();
  await expect(depot.changes(checkout.head, missing)).rejects.toThrow();
  const tree = await depot.handle.treeOf(checkout.head);
  expect(await depot.changes(checkout.head, tree)).toEqual([]);
  expect(await depot.descends(checkout.head, checkout.head)).toBe(true);
});

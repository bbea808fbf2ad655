import { expect, test } from 'vitest';
import { showBytes } from '../../src/core/bytes.ts';
import { levelOf, wordDisk } from '../../src/core/work-disk.ts';

const MB = 1024 ** 2;

test('sizes are shown in a unit that suits them', () => {
  expect([0, 1, 2048, 1.5 * MB, 1023 * MB, 20 * 1024 * MB].map(showBytes)).toEqual([
    '0 KB',
    '1 KB',
    '2 KB',
    '1.5 MB',
    '1023.0 MB',
    '20.0 GB',
  ]);
});

test('the workspaces of a team are near their limit at 80 % of it', () => {
  expect([79, 80, 99, 100, 101].map((used) => levelOf({ used, limit: 100 }))).toEqual([
    'fine',
    'near',
    'near',
    'full',
    'full',
  ]);
  const help =
    'remove what members no longer need, such as build output, or raise limits: { disk } in the team file and run troupe up again.';
  expect(wordDisk('alpha', { used: 9 * MB, limit: 10 * MB })).toBe(
    `The workspaces of team alpha take 9.0 MB, and may take 10.0 MB. At the limit no new workspace is opened: ${help}`,
  );
  expect(wordDisk('alpha', { used: 10 * MB, limit: 10 * MB })).toBe(
    `The workspaces of team alpha take 10.0 MB, and may take 10.0 MB. No new workspace is opened, and nothing is deleted: ${help}`,
  );
});

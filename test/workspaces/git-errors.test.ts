import { expect, test } from 'vitest';
import { explainFailure } from '../../src/workspaces/git-errors.ts';

const explain = (err: string, how: number | string = 128) =>
  explainFailure({
    args: ['update-index', '--add'],
    how,
    err,
    dir: '/state',
    limits: { maxBytes: 1, timeoutMs: 90_000 },
  });

test.for([
  // What git says on a full disk; which one depends on the file that no longer fits.
  ['unable to write loose object file: No space left on device', 'storage', 'ENOSPC', 'the disk is full'],
  ["sha1 file '/state/index.lock' write error. Out of diskspace", 'storage', 'ENOSPC', 'the disk is full'],
  ['write error: Disk quota exceeded', 'storage', 'EDQUOT', 'your quota is used up'],
  ['read error: Input/output error', 'storage', 'EIO', 'the disk reported an error'],
  ["Unable to create 'x.lock': Read-only file system", 'storage', 'EROFS', 'the disk is read-only'],
  ['cannot create pipe: Too many open files', 'storage', 'EMFILE', 'too many files are open'],
  ["Entry 'a' not uptodate. Cannot merge.", 'conflict', undefined, 'files in the folder are in the way'],
  ["Unable to create '/state/x.lock': File exists.", 'conflict', undefined, 'another change was first'],
  ["cannot lock ref 'refs/x': is at 12ab but expected 34cd", 'conflict', undefined, 'another change was first'],
  [`object file objects/12/34 is empty`, 'corrupt', undefined, 'data of the depot is damaged'],
  [`unable to read ${'a'.repeat(40)}`, 'corrupt', undefined, 'data of the depot is damaged'],
  ["not a git repository: '/state'", 'corrupt', undefined, 'the depot is gone'],
  [`Not a valid object name ${'a'.repeat(40)}`, 'not_found', undefined, 'there is no such commit'],
  ["detected dubious ownership in repository at '/x'", 'not_allowed', undefined, 'belongs to another user'],
  ["could not open 'x': Permission denied", 'storage', 'EACCES', 'the files belong to somebody else'],
] as const)('%s is named %s (%s): %s', ([said, code, errno, advice]) => {
  const error = explain(`error: ${said}\nfatal: updating files failed`);
  expect([error.code, error.facts]).toEqual([code, errno && { errno }]);
  expect(error.message).toMatch(/^git update-index failed in \/state: /);
  expect(error.message).toContain(advice);
  expect(error.message).toContain(`(error: ${said}; fatal: updating files failed)`);
  expect([error.complaint, error.isKilled]).toEqual([`error: ${said}\nfatal: updating files failed`, false]);
});

test('of anything else the first three lines are quoted, without hints, and not for ever', () => {
  const error = explain('hint: try\none\n\ntwo hint:\nthree\nfour\n');
  expect([error.code, error.facts]).toEqual(['storage', undefined]);
  expect(error.message).toBe('git update-index failed in /state: one; two hint:; three');
  expect(explain('x'.repeat(600)).message).toBe(`git update-index failed in /state: ${'x'.repeat(500)}`);
  expect(explain('hint: try\n', 3).message).toBe('git update-index failed in /state: it ended with 3');
});

test('what a command complained before it was stopped is no reason', () => {
  const error = explain('warning: No space left on device', 'timeout');
  expect(error).toMatchObject({ code: 'storage', facts: undefined, isKilled: true });
  expect(error.message).toContain('did not end within 90 s');
  expect(explain('not a git repository', 'output')).toMatchObject({ code: 'limit', isKilled: true });
});

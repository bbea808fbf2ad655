import { expect, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import { asStorageError, explainFileError, wordFileError } from '../../src/core/file-errors.ts';

const failed = (code: string) => Object.assign(new Error(`${code}: as the system says it`), { code });

test.each([
  ['ENOENT', 'read', '/a/b.txt', 'not_found', 'There is no file /a/b.txt: check the name'],
  [
    'ENOENT',
    'write',
    '/my dir/b.txt',
    'invalid',
    "/my dir/b.txt cannot be written: there is no folder /my dir. Create it first: mkdir -p '/my dir'",
  ],
  ['ENOENT', 'write', '/b', 'invalid', '/b cannot be written: there is no folder /. Create it first: mkdir -p /'],
  ['ENOENT', 'write', 'b', 'invalid', 'b cannot be written: there is no folder .. Create it first: mkdir -p .'],
  [
    'EACCES',
    'read',
    '/a',
    'not_allowed',
    '/a cannot be read: you have no permission; allow it, or choose another place',
  ],
  ['EDQUOT', 'write', '/a', 'storage', '/a cannot be written: the disk is full; free some space'],
  ['EIO', 'read', '/a', 'storage', '/a cannot be read: EIO: as the system says it'],
  ['constructor', 'read', '/a', 'storage', '/a cannot be read: constructor: as the system says it'],
] as const)('%s, to %s %s', (code, wanted, path, kind, message) => {
  const cause = failed(code);
  expect(explainFileError(cause, path, wanted)).toMatchObject({ code: kind, message, cause });
});

test('the reason alone is in plain words, or in those of the system', () => {
  expect(wordFileError(failed('EISDIR'))).toBe('it is a folder');
  expect(wordFileError(failed('EIO'))).toBe('EIO: as the system says it');
  expect(wordFileError(new Error('no code'))).toBe('no code');
});

test('a full disk under a file of our own passes; other errors stay as they are', () => {
  const cause = failed('ENOSPC');
  const message = `the disk is full: free some space (${cause.message})`;
  expect(asStorageError(cause)).toMatchObject({ code: 'storage', message, cause, facts: { errno: 'ENOSPC' } });
  for (const other of [failed('ENOENT'), failed('EIO'), new TeamError('storage', 'x'), new Error('x'), 'x']) {
    expect(asStorageError(other)).toBe(other);
  }
});

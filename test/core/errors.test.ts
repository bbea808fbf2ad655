import { describe, expect, test } from 'vitest';
import { ClaimConflictError, ERROR_CODES, hasCode, TeamError } from '../../src/core/errors.ts';
import type { ErrorCode } from '../../src/core/errors.ts';

describe('an error', () => {
  test('has a code, a message and the error it came from', () => {
    const cause = new Error('disk');
    const error = new TeamError('storage', 'The disk refused', { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'TeamError', code: 'storage', message: 'The disk refused', cause });
    expect(new TeamError('storage', 'x')).not.toHaveProperty('cause');
    expect(new TeamError('storage', 'x', { retryMs: 7 }).retryMs).toBe(7);
  });

  test('is known by its code, whatever was thrown', () => {
    const error = new TeamError('storage', 'x');
    expect([hasCode(error, 'limit', 'storage'), hasCode(error, 'limit'), hasCode(error)]).toEqual([true, false, false]);
    expect([hasCode({ code: 'storage' }, 'storage'), hasCode(undefined, 'storage')]).toEqual([false, false]);
  });

  test('of a lost race is a TeamError', () => {
    const error = new ClaimConflictError('gone');
    expect(error).toBeInstanceOf(TeamError);
    expect(error).toMatchObject({ name: 'ClaimConflictError', code: 'claim_conflict', message: 'gone' });
  });

  test.each(Object.entries(ERROR_CODES))(
    'has a status and an exit code that match each other: %s',
    (code, { status, exit }) => {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(600);
      // 0 would be success, and 126 and above belong to shells and signals.
      expect(exit).toBeGreaterThan(0);
      expect(exit).toBeLessThan(126);
      expect(ERROR_CODES[code as ErrorCode]).toBeDefined();
    },
  );
});

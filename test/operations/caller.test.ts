import { describe, expect, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import { createState } from '../../src/core/state.ts';
import { actorOf, ADMIN, isPresent } from '../../src/operations/caller.ts';
import type { Caller } from '../../src/operations/caller.ts';

const change = { scope: 'member' } as const;

describe('a caller', () => {
  test('that is a person is in no team', () => {
    expect(isPresent(createState('demo'), ADMIN)).toBe(false);
  });

  test.each<[string, Caller]>([
    ['that may only read', { scope: 'reader', teamId: 'demo', memberId: 'worker' }],
    ['that no credential names', { scope: 'member', teamId: 'demo' }],
  ])('%s acts for nobody, even if its scope was not checked', (_, caller) => {
    expect(() => actorOf(caller, change, undefined)).toThrow('This credential can only read');
  });

  test('that is a person acts as itself, a member or a person by name, and as nothing else', () => {
    expect(['worker', '@user', undefined].map((as) => actorOf(ADMIN, change, as))).toEqual([
      'worker',
      '@user',
      '@user',
    ]);
    for (const as of ['@nobody', '', 'a b']) expect(() => actorOf(ADMIN, change, as)).toThrow(TeamError);
  });
});

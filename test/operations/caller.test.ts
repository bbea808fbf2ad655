import { describe, expect, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import { createState } from '../../src/core/state.ts';
import { sameSince } from '../../src/core/view.ts';
import { actorOf, ADMIN, authorize, isPresent } from '../../src/operations/caller.ts';
import type { Caller } from '../../src/operations/caller.ts';
import { teamOf } from '../core/stage.ts';

const change = { scope: 'member' } as const;

describe('a caller', () => {
  test('that is a person is in no team', () => {
    expect(isPresent(createState('demo'), ADMIN)).toBe(false);
  });

  test('that left its team before the team closed is no longer there; one that was there to the end still is', () => {
    const team = teamOf('ann', 'bob');
    const callerOf = (memberId: string): Caller => {
      const member = team.state.members.get(memberId);
      return { scope: 'member', teamId: 'alpha', memberId, ...(member && { since: sameSince(member) }) };
    };
    const [ann, bob] = [callerOf('ann'), callerOf('bob')];
    const present = () => [ann, bob, { ...bob, since: 1 }].map((caller) => isPresent(team.state, caller));
    expect(present()).toEqual([true, true, false]);
    team.do('member.leave', { memberId: 'ann' });
    expect(present()).toEqual([false, true, false]);
    team.do('team.close', { force: true });
    expect(present()).toEqual([false, true, false]);
  });

  test.each<[string, Caller]>([
    ['that may only read', { scope: 'reader', teamId: 'demo', memberId: 'worker' }],
    ['that no credential names', { scope: 'member', teamId: 'demo' }],
  ])('%s acts for nobody, even if its scope was not checked', (_, caller) => {
    expect(() => actorOf(caller, change, undefined)).toThrow('This credential can only read');
  });

  test('that is a member acts for itself, by name or without one, and for nobody else', () => {
    const caller = { scope: 'member', teamId: 'demo', memberId: 'worker' } as const;
    expect([undefined, 'worker'].map((as) => actorOf(caller, change, as))).toEqual(['worker', 'worker']);
    expect(() => actorOf(caller, change, 'other')).toThrow('This credential acts for worker, not for "other"');
    const reader = { ...caller, scope: 'reader' } as const;
    expect(actorOf(reader, { scope: 'reader' }, 'worker')).toBe('worker');
  });

  test('that is a member may do what its scope includes, in its own team and where no team is named', () => {
    const caller = { scope: 'member', teamId: 'demo', memberId: 'worker' } as const;
    const allow = (scope: 'reader' | 'member' | 'lead', teamId?: string) => (): void =>
      authorize(caller, { name: 'task.list', scope }, teamId);
    for (const scope of ['reader', 'member'] as const) {
      expect(allow(scope)).not.toThrow();
      expect(allow(scope, 'demo')).not.toThrow();
      expect(allow(scope, 'away')).toThrow('This credential is for team demo, not "away"');
    }
    expect(allow('lead', 'demo')).toThrow('task.list needs the scope lead; this credential has member');
    expect(() => authorize(ADMIN, { name: 'task.list', scope: 'admin' }, 'away')).not.toThrow();
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

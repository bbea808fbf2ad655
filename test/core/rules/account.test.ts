import { describe, expect, test } from 'vitest';
import { ACCOUNTS_PER_TEAM, PAST_LIMITS } from '../../../src/core/account.ts';
import type { AccountLimit } from '../../../src/core/account.ts';
import { evolve } from '../../../src/core/evolve.ts';
import { teamOf } from '../stage.ts';

const LIMIT: AccountLimit = { cause: 'limited', reason: 'used up', since: 0, until: 3_600_000, known: true, tries: 1 };

describe('what is known about an account', () => {
  /** Ann and bob use claude, whose limit was reached and then ended by a person. */
  function freed() {
    const team = teamOf('ann', 'bob');
    for (const name of ['ann', 'bob']) team.as(name, 'member.change', { memberId: name, account: 'claude' });
    const fail = (knownAt?: number) =>
      team.as('ann', 'account.report', { memberId: 'ann', cause: 'limited', reason: 'used up', knownAt });
    const known = () => team.state.accounts.get('claude');
    return { team, fail, known };
  }

  test('is a limit again only if the turn that failed began after the last one ended', () => {
    const { team, fail, known } = freed();
    expect(fail(0)).toMatchObject([{ limit: { cause: 'limited' } }]);
    const before = known()?.limitAt ?? 0;
    const since = known()?.limit?.since ?? 0;
    team.as('@user', 'account.set', { account: 'claude', limit: null });
    expect(known()?.freed).toEqual({ at: team.now, waited: team.now - since });
    expect(fail(before)).toEqual([]);
    expect(known()?.limit).toBeUndefined();
    expect(fail(known()?.limitAt)).toHaveLength(1);
    // A limit that lasts is not a past one.
    team.pass(9 * 3_600_000);
    expect(fail(0)).toMatchObject([{ limit: { tries: 2 } }]);
  });

  test('is not over because a member says that its turn began later than now', () => {
    const { team, known } = freed();
    team.as('@system', 'account.set', {
      account: 'claude',
      limit: { ...LIMIT, since: team.now, until: team.now + 60_000 },
    });
    expect(team.as('bob', 'account.report', { memberId: 'bob', worksSince: team.now + 1e9 })).toEqual([]);
    team.pass(60_000);
    expect(team.as('bob', 'account.report', { memberId: 'bob', worksSince: team.now + 1e9 })).toHaveLength(1);
    expect(known()?.limit).toBeUndefined();
  });

  test('lasts at most a month because a member says so', () => {
    const { team, known } = freed();
    const day = 86_400_000;
    const report = { memberId: 'bob', cause: 'limited', reason: 'used up' } as const;
    team.as('bob', 'account.report', { ...report, resetsAt: team.now + 1_000 + 32 * day + 1 });
    expect(known()?.limit).toMatchObject({ known: false });
    expect((known()?.limit?.until ?? 0) - team.now).toBeLessThan(day);
    team.as('bob', 'account.report', { ...report, resetsAt: team.now + 1_000 + 32 * day });
    expect(known()?.limit).toMatchObject({ known: true, until: team.now + 32 * day });
  });

  test('is taken over from another team if it is newer, and something new', () => {
    const { team, known } = freed();
    const copy = (limit: AccountLimit | null, asOf: number) =>
      team.as('@system', 'account.set', { account: 'claude', limit, asOf });
    expect(copy(LIMIT, 1_000)).toMatchObject([{ type: 'account:changed', limit: LIMIT, asOf: 1_000 }]);
    expect(known()).toMatchObject({ limit: LIMIT, limitAt: 1_000 });
    expect(copy(LIMIT, 2_000)).toEqual([]);
    expect(copy({ ...LIMIT, tries: 2 }, 999)).toEqual([]);
    expect(copy({ ...LIMIT, tries: 2 }, 1_001)).toHaveLength(1);
    // Of two at the same time, the end of a limit counts.
    expect(copy(null, 1_001)).toHaveLength(1);
    expect(copy(null, 3_000)).toEqual([]);
    const windows = [{ name: 'five_hour', used: 0.5 }];
    copy(LIMIT, 4_000);
    const [told, ...others] = team.as('@system', 'account.set', { account: 'claude', windows });
    expect(told).toMatchObject({ windows });
    expect(told).not.toHaveProperty('limit');
    expect(others).toEqual([]);
    expect(known()).toMatchObject({ limit: LIMIT, limitAt: 4_000 });
    expect(team.as('@system', 'account.set', { account: 'claude', windows })).toEqual([]);
    const [reported] = team.as('ann', 'account.report', {
      memberId: 'ann',
      windows: [{ name: 'five_hour', used: 0.9 }],
    });
    expect(reported).not.toHaveProperty('limit');
  });

  test('is forgotten for the account that changed longest ago, if there are too many', () => {
    const { team } = freed();
    const tell = (n: number) =>
      team.as('@system', 'account.set', { account: `a${n}`, windows: [{ name: 'week', used: team.now / 1e15 }] });
    for (let n = 0; n < ACCOUNTS_PER_TEAM; n++) tell(n);
    team.as('@system', 'account.set', { account: 'a0', limit: LIMIT });
    tell(ACCOUNTS_PER_TEAM);
    expect(team.state.accounts.size).toBe(ACCOUNTS_PER_TEAM);
    expect([team.state.accounts.has('a0'), team.state.accounts.has('a1')]).toEqual([true, false]);
  });
});

describe('the record of an account', () => {
  const team = () => {
    const made = teamOf('ann');
    made.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
    const set = (input: object) => made.as('@system', 'account.set', { account: 'claude', ...input });
    const known = () => made.state.accounts.get('claude');
    return { made, set, known };
  };

  test('has no field without a value, and keeps what a change does not name', () => {
    const { made, set, known } = team();
    set({ windows: [{ name: 'week', used: 0.5 }] });
    expect(known()).toStrictEqual({ id: 'claude', at: made.now, windows: [{ name: 'week', used: 0.5 }] });
    set({ limit: LIMIT });
    const limitAt = made.now;
    expect(known()).toStrictEqual({
      id: 'claude',
      at: made.now,
      windows: [{ name: 'week', used: 0.5 }],
      limit: LIMIT,
      limitAt,
    });
    set({ windows: [{ name: 'day', used: 0.1 }] });
    expect(known()).toMatchObject({ limit: LIMIT, limitAt, windows: [{ name: 'week' }, { name: 'day' }] });
    set({ limit: null });
    const ended = made.now;
    const past = [{ cause: 'limited', since: 0, ended, waiting: 0 }];
    const freed = { at: ended, waited: ended };
    const windows = known()?.windows;
    expect(known()).toStrictEqual({ id: 'claude', at: ended, windows, limitAt: ended, freed, past });
    set({ windows: [{ name: 'day', used: 0.9 }] });
    expect(known()).toMatchObject({ freed, past, limitAt: ended });
  });

  test('is newer than all that was known, also if the clock of another machine was ahead', () => {
    const { made, set, known } = team();
    const ahead = made.now + 9_000_000;
    set({ limit: LIMIT, asOf: ahead });
    made.as('@user', 'account.set', { account: 'claude', limit: null });
    expect(known()).toMatchObject({ limitAt: ahead + 1 });
    made.pass(10_000_000);
    set({ limit: LIMIT });
    expect(known()?.limitAt).toBe(made.now);
  });

  test('keeps the last limits, and withdraws only the questions about the one that ended', () => {
    const { made, set, known } = team();
    const ask = (kind: 'account' | 'hang', detail?: { account: string }) =>
      made.as('@system', 'request.raise', { kind, memberId: 'ann', content: 'x', detail });
    ask('account', { account: 'claude' });
    ask('account', { account: 'codex' });
    ask('account');
    ask('hang', { account: 'claude' });
    set({ limit: LIMIT });
    expect([...made.state.requests.values()].map(({ status }) => status)).not.toContain('withdrawn');
    set({ limit: null });
    const statuses = [...made.state.requests.values()].map(({ status }) => status);
    expect(statuses).toEqual(['withdrawn', 'pending', 'pending', 'pending']);
    for (let n = 0; n < PAST_LIMITS + 3; n++) {
      set({ limit: { ...LIMIT, since: n } });
      set({ limit: null });
    }
    expect(known()?.past?.map(({ since }) => since)).toEqual(Array.from({ length: PAST_LIMITS }, (_none, n) => n + 3));
  });

  test('is kept if it changes while there are as many as there may be; of two as old the first one goes', () => {
    const { made } = team();
    const fill = (n: number) => {
      const windows = [{ name: 'week', used: 0.5 }];
      evolve(made.state, { type: 'account:changed', at: 7, by: '@system', account: `a${n}`, windows });
    };
    for (let n = 0; n < ACCOUNTS_PER_TEAM; n++) fill(n);
    fill(5);
    expect(made.state.accounts.size).toBe(ACCOUNTS_PER_TEAM);
    expect(made.state.accounts.has('a0')).toBe(true);
    fill(ACCOUNTS_PER_TEAM);
    expect(['a0', 'a1'].map((id) => made.state.accounts.has(id))).toEqual([false, true]);
  });
});

test('a report says only what is new, and a turn that began before the limit ended does not end it', () => {
  const team = teamOf('ann');
  team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
  const tell = (input: object) => team.as('ann', 'account.report', { memberId: 'ann', ...input });
  const [first] = tell({ cause: 'limited', reason: 'used up', resetsAt: team.now + 9e6, worksSince: team.now + 9e7 });
  expect(Object.keys(first ?? {}).toSorted()).toEqual(['account', 'at', 'by', 'limit', 'memberId', 'type']);
  expect(first).toMatchObject({ limit: { cause: 'limited' } });
  // The same again, by a member that ran at the same time.
  expect(tell({ cause: 'limited', reason: 'used up', resetsAt: team.now + 9e6 - 1000 })).toEqual([]);
  const until = team.state.accounts.get('claude')?.limit?.until ?? 0;
  expect(tell({})).toEqual([]);
  expect(tell({ worksSince: until - 1 })).toEqual([]);
  // Before the limit is over, nobody can know that it is.
  expect(tell({ worksSince: until })).toEqual([]);
  team.pass(until - team.now);
  expect(tell({ worksSince: until })).toMatchObject([{ limit: null }]);
  expect(tell({ worksSince: until + 1 })).toEqual([]);
  expect(team.refuse('lead', 'account.report', { memberId: 'ann' }).message).toContain(
    'speak about the account of ann',
  );
  expect(team.refuse('ann', 'account.set', { account: 'claude', limit: null }).message).toContain('change an account');
});

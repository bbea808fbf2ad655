import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accountGate } from '../../src/core/account-gate.ts';
import { loginQuestion } from '../../src/core/account-question.ts';
import { describeLimit } from '../../src/core/account-words.ts';
import {
  isNewer,
  limitAfter,
  limitTime,
  mergeAccounts,
  mergeWindows,
  newWindows,
  warnedWindows,
  shareOf,
} from '../../src/core/account.ts';
import type { Account, AccountLimit } from '../../src/core/account.ts';
import { LINE_LENGTH } from '../../src/core/limits.ts';
import type { RaiseRequestInput } from '../../src/core/request.ts';
import { teamOf } from './stage.ts';

const LIMIT: AccountLimit = { cause: 'limited', reason: 'used up', since: 0, until: 3_600_000, known: true, tries: 1 };
const report = { cause: 'overloaded', reason: 'busy', at: 0, key: 'demo/ada' } as const;
const account = (limit?: AccountLimit) => ({ id: 'claude', at: 0, windows: [], ...(limit && { limit }) });

describe('the limit of an account', () => {
  test('lasts until the time that its provider names', () => {
    expect(limitAfter(undefined, { ...report, cause: 'limited', resetsAt: 5_000 })).toMatchObject({
      until: 5_000,
      known: true,
      tries: 1,
    });
    // A time that is over says nothing.
    expect(limitAfter(undefined, { ...report, cause: 'limited', at: 6_000, resetsAt: 5_000 }).known).toBe(false);
  });

  test('is tried after pauses that never shrink, if nobody knows when it ends', () => {
    for (const cause of ['limited', 'overloaded', 'unauthorised'] as const) {
      let limit: AccountLimit | undefined;
      let at = 0;
      const pauses: number[] = [];
      for (let i = 0; i < 10; i++) {
        limit = limitAfter(limit, { ...report, cause, at });
        pauses.push(limit.until - at);
        at = limit.until;
      }
      expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
      expect(pauses[0]).toBeLessThan(2 * 60_000);
      expect(pauses.at(-1)).toBeLessThan(100 * 60_000);
      expect(limit?.tries).toBe(10);
    }
  });

  test('does not change when members that ran at the same time report it too', () => {
    const first = limitAfter(undefined, report);
    expect(limitAfter(first, { ...report, at: 1, key: 'demo/bob' })).toBe(first);
    expect(limitAfter(LIMIT, { ...report, cause: 'limited', at: 1, resetsAt: 3_600_000 })).toBe(LIMIT);
    // A longer one counts: the week's limit is reached as well.
    expect(limitAfter(LIMIT, { ...report, cause: 'limited', at: 1, resetsAt: 9_000_000 })).toMatchObject({
      until: 9_000_000,
      since: 0,
    });
  });
});

describe('a turn', () => {
  test('begins on no account before its limit ends, and on every one within a minute after', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(10_000_000), fc.nat(1e10), fc.nat(10_000_000), (key, since, lasts, late) => {
        const limit = { ...LIMIT, since, until: since + lasts };
        const gate = accountGate(account(limit), key, since + late);
        if (late < lasts) expect(gate.kind).toBe('closed');
        if (gate.kind === 'closed') expect(gate.until).toBeLessThanOrEqual(limit.until + 60_000);
        if (late >= lasts + 60_000) expect(gate).toEqual({ kind: 'open', isTry: true });
      }),
    );
  });

  test('waits a little longer than the limit, each member for another time', () => {
    expect(accountGate(account(LIMIT), 'demo/ada', LIMIT.until)).toEqual({
      kind: 'closed',
      until: LIMIT.until + Math.round(60_000 * shareOf('demo/ada')),
    });
  });

  test('is tried by one member if nobody knows when the limit ends', () => {
    const limit = { ...LIMIT, known: false };
    expect(accountGate(account(limit), 'a', limit.until - 1)).toEqual({ kind: 'closed', until: limit.until });
    expect(accountGate(account(limit), 'a', limit.until)).toEqual({ kind: 'try' });
  });

  test('of many members does not begin with the others after a limit', () => {
    const keys = Array.from({ length: 40 }, (_none, index) => `demo/worker-${index}`);
    const begins = keys.map((key) => {
      const gate = accountGate({ ...account(), freed: { at: 0, waited: 3_600_000 } }, key, 0);
      return gate.kind === 'closed' ? gate.until : 0;
    });
    expect(new Set(begins.map((at) => Math.floor(at / 6_000))).size).toBeGreaterThan(6);
    expect(Math.max(...keys.map(shareOf))).toBeLessThan(1);
  });
});

describe('the windows of an account', () => {
  const window = fc.record({
    name: fc.constantFrom('five_hour', 'seven_day'),
    used: fc.double({ min: 0, max: 1.2, noNaN: true }),
    resetsAt: fc.option(fc.nat(1e7), { nil: undefined }),
  });

  test('are merged: none is erased by a report without it, and no time by a report without one', () => {
    fc.assert(
      fc.property(fc.array(fc.array(window, { maxLength: 3 }), { maxLength: 8 }), (reports) => {
        let known: ReturnType<typeof mergeWindows> = [];
        for (const told of reports) {
          const news = newWindows(known, told);
          const next = mergeWindows(known, news);
          for (const before of known) {
            const after = next.find(({ name }) => name === before.name);
            expect(after).toBeDefined();
            if (before.resetsAt !== undefined) expect(after?.resetsAt).toBeDefined();
          }
          known = next;
        }
      }),
    );
  });

  test('are news only if much changed, or a warning is due', () => {
    const before = [{ name: 'five_hour', used: 0.5, resetsAt: 1e6 }];
    expect(newWindows(before, [{ name: 'five_hour', used: 0.52, resetsAt: 1e6 + 1_000 }])).toEqual([]);
    expect(newWindows(before, [{ name: 'five_hour', used: 0.56 }])).toEqual([
      { name: 'five_hour', used: 0.56, resetsAt: 1e6 },
    ]);
    expect(newWindows([{ name: 'five_hour', used: 0.79 }], [{ name: 'five_hour', used: 0.8 }])).toHaveLength(1);
  });
});

describe('a member', () => {
  test('is warned once when 80 % of a window are used', () => {
    const team = teamOf('ann');
    team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
    const use = (used: number) =>
      team.as('ann', 'account.report', { memberId: 'ann', windows: [{ name: 'five_hour', used }] }) as {
        warns?: string[];
      }[];
    expect([0.5, 0.82, 0.9, 1, 0.1, 0.85].map((used) => use(used)[0]?.warns)).toEqual([
      undefined,
      ['five_hour'],
      undefined,
      undefined,
      undefined,
      ['five_hour'],
    ]);
  });

  test('ends the limit of its account only with a turn that began after it', () => {
    const team = teamOf('ann', 'bob');
    for (const name of ['ann', 'bob']) team.as(name, 'member.change', { memberId: name, account: 'claude' });
    team.as('ann', 'account.report', { memberId: 'ann', cause: 'overloaded', reason: 'busy', pauseMs: 500 });
    const until = team.state.accounts.get('claude')?.limit?.until ?? 0;
    expect(team.as('bob', 'account.report', { memberId: 'bob', worksSince: until - 1 })).toEqual([]);
    team.as('bob', 'account.report', { memberId: 'bob', worksSince: until });
    expect(team.state.accounts.get('claude')).toMatchObject({ freed: { waited: expect.any(Number) as number } });
    expect(team.state.accounts.get('claude')?.limit).toBeUndefined();
  });
});

test('a limit is described with the time of day, and the date if that is far away', () => {
  const at = new Date(2026, 0, 2, 3, 10).getTime();
  const limit = { ...LIMIT, since: at - 3_600_000, until: at };
  expect(describeLimit(limit, 'claude')).toBe('limited until 03:10 (claude)');
  expect(describeLimit({ ...limit, since: 0 }, 'claude')).toBe('limited until 2026-01-02 03:10 (claude)');
  const day = 24 * 3_600_000;
  expect(describeLimit({ ...limit, since: at - day }, 'claude')).toBe('limited until 2026-01-02 03:10 (claude)');
  const busy = { ...limit, known: false, cause: 'overloaded' } as const;
  expect(describeLimit(busy, 'claude')).toBe('overloaded, next try at 03:10 (claude)');
  expect(describeLimit({ ...limit, cause: 'unauthorised' }, 'claude')).toBe('not logged in (claude)');
});

describe('what two teams know about an account', () => {
  const window = (used: number) => ({ name: 'five_hour', used });
  const freed = { at: 20, waited: 10 };
  const past = [{ cause: 'limited', since: 10, ended: 20, waiting: 1 } as const];

  test('is merged: the newer windows, and the newer word about the limit', () => {
    const limited: Account = { id: 'claude', at: 30, windows: [window(0.9)], limit: LIMIT, limitAt: 10 };
    const free: Account = { id: 'claude', at: 25, windows: [window(0.1)], limitAt: 20, freed, past };
    const merged = { id: 'claude', at: 30, windows: [window(0.9)], limitAt: 20, freed, past };
    expect(mergeAccounts(limited, free)).toEqual(merged);
    expect(mergeAccounts(free, limited)).toEqual(merged);
    expect(mergeAccounts({ ...free, limitAt: 5 }, limited)).toEqual(limited);
    expect(mergeAccounts(account(), account())).toEqual(account());
  });

  test('has the time of the record, if an earlier version wrote none for the limit', () => {
    expect(limitTime({ ...account(LIMIT), at: 7 })).toBe(7);
    expect(limitTime({ ...account(), at: 7, freed })).toBe(7);
    expect(limitTime({ ...account(LIMIT), at: 7, limitAt: 3 })).toBe(3);
    expect(limitTime(account())).toBeUndefined();
    expect(limitTime(undefined)).toBeUndefined();
  });

  test('counts if it is newer; of two at the same time, the end of a limit does', () => {
    expect(isNewer({ limit: LIMIT, at: 0 }, undefined)).toBe(true);
    expect(isNewer({ limit: LIMIT, at: 5 }, 5)).toBe(false);
    expect(isNewer({ limit: null, at: 5 }, 5)).toBe(true);
    expect(isNewer({ at: 4 }, 5)).toBe(false);
  });
});

describe('a person is asked to log in', () => {
  const HOW = { command: 'claude login', folder: { variable: 'CLAUDE_CONFIG_DIR' }, keys: ['A_KEY', 'B_KEY'] };
  const loggedOut = (id: string) => {
    const team = teamOf('ann');
    team.as('ann', 'member.change', { memberId: 'ann', account: id });
    team.as('ann', 'account.report', { memberId: 'ann', cause: 'unauthorised', reason: 'no login' });
    return team;
  };

  test.each([
    ['claude', HOW, 'Log in with: claude login.'],
    ['claude@second', HOW, 'Log in with: claude login, with its CLAUDE_CONFIG_DIR.'],
    [
      'claude@env-1f',
      HOW,
      'Its key comes from the environment (A_KEY, B_KEY): run troupe up with a valid one and restart the member.',
    ],
    ['own', undefined, 'Log in with its own program.'],
  ])('on %s, with what to do', (id, how, advice) => {
    expect(loginQuestion(loggedOut(id).state, id, how)).toEqual({
      kind: 'account',
      memberId: 'ann',
      content:
        `The account ${id} is not logged in: no login\n${advice} ` +
        'Yes goes on at once. Without an answer, one member tries again from time to time.',
      detail: { account: id, cause: 'unauthorised' },
    });
  });

  test('once for each time that the login fails', () => {
    const team = loggedOut('claude');
    const ask = () => loginQuestion(team.state, 'claude', HOW);
    team.as('@system', 'request.raise', ask() as RaiseRequestInput);
    expect(ask()).toBeUndefined();
    team.as('@user', 'request.answer', { requestId: [...team.state.requests.keys()][0] ?? '', approve: true });
    expect(team.state.accounts.get('claude')?.limit).toBeUndefined();
    team.pass(60_000);
    team.as('ann', 'account.report', { memberId: 'ann', cause: 'unauthorised', reason: 'no login' });
    expect(ask()).toMatchObject({ memberId: 'ann' });
  });

  test('not if nobody would use the login, or something else is in the way', () => {
    const left = loggedOut('claude');
    left.do('member.leave', { memberId: 'ann' });
    expect(loginQuestion(left.state, 'claude', HOW)).toBeUndefined();
    const closing = loggedOut('claude');
    closing.as('@user', 'team.close', { force: true });
    expect(loginQuestion(closing.state, 'claude', HOW)).toBeUndefined();
    const busy = teamOf('ann');
    busy.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
    busy.as('ann', 'account.report', { memberId: 'ann', cause: 'overloaded', reason: 'busy' });
    expect(loginQuestion(busy.state, 'claude', HOW)).toBeUndefined();
    expect(loginQuestion(busy.state, 'codex', HOW)).toBeUndefined();
  });
});

test('only a limit ends when its provider says; an overload is over when it is', () => {
  const told = { ...report, at: 1_000, resetsAt: 5_000_000 };
  expect(limitAfter(undefined, told)).toMatchObject({ known: false });
  expect(limitAfter(undefined, told).until).toBeLessThan(5_000_000);
  expect(limitAfter(undefined, { ...told, cause: 'limited' })).toMatchObject({ known: true, until: 5_000_000 });
});

test('each window is compared with what is known of it alone', () => {
  const before = [
    { name: 'five_hour', used: 0.2, resetsAt: 1_000_000 },
    { name: 'week', used: 0.6, resetsAt: 9_000_000 },
  ];
  expect(newWindows(before, [{ name: 'week', used: 0.61 }])).toEqual([]);
  expect(newWindows(before, [{ name: 'week', used: 0.65 }])).toEqual([
    { name: 'week', used: 0.65, resetsAt: 9_000_000 },
  ]);
  expect(newWindows(before, [{ name: 'month', used: 0.1 }])).toStrictEqual([{ name: 'month', used: 0.1 }]);
  const warned = [
    { name: 'five_hour', used: 0.9 },
    { name: 'week', used: 0.5 },
  ];
  const told = (used: number) => ['five_hour', 'week', 'month'].map((name) => ({ name, used }));
  expect(warnedWindows(warned, told(0.8))).toEqual(['week', 'month']);
  expect(warnedWindows(warned, told(0.79))).toEqual([]);
  expect(warnedWindows(warned, told(1))).toEqual([]);
});

test('what two teams know of an account has no field without a value', () => {
  expect(mergeAccounts(account(), { ...account(), at: 7 })).toStrictEqual({ id: 'claude', at: 7, windows: [] });
});

test('a closed team asks nobody to log in', () => {
  const team = teamOf('ann');
  team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
  team.as('ann', 'account.report', { memberId: 'ann', cause: 'unauthorised', reason: 'not logged in' });
  expect(loginQuestion(team.state, 'claude', undefined)).toMatchObject({ kind: 'account', memberId: 'ann' });
  const { team: record } = team.state;
  if (record) team.state.team = { ...record, status: 'shutting-down' };
  expect(loginQuestion(team.state, 'claude', undefined)).toBeUndefined();
});

test('a limit keeps what the first report of it said, until its provider names a later end', () => {
  const open = { ...LIMIT, since: 5, known: false, until: 9_000_000, tries: 2 };
  const named = { ...report, cause: 'limited', at: 10, resetsAt: 5_000_000 } as const;
  expect(limitAfter(open, named)).toEqual({ ...open, reason: 'busy', until: 5_000_000, known: true });
  expect(limitAfter({ ...open, known: true }, named)).toEqual({ ...open, known: true });
  // A time that is now is over.
  expect(limitAfter(undefined, { ...named, at: 5_000_000 }).known).toBe(false);
  expect(limitAfter(undefined, { ...report, pauseMs: 777 })).toMatchObject({ until: 777, since: 0 });
  expect(limitAfter(undefined, { ...report, reason: 'x'.repeat(10_000) }).reason).toHaveLength(LINE_LENGTH);
});

test('a window is news at these very differences', () => {
  const news = (known: object, told: object) =>
    newWindows([{ name: 'week', used: 0.5, ...known }], [{ name: 'week', used: 0.5, ...told }]);
  expect(news({ resetsAt: 1e6 }, { resetsAt: 1e6 + 60_000 })).toEqual([]);
  expect(news({ resetsAt: 1e6 }, { resetsAt: 1e6 + 60_001 })).toEqual([
    { name: 'week', used: 0.5, resetsAt: 1e6 + 60_001 },
  ]);
  expect(news({}, { resetsAt: 1e6 })).toHaveLength(1);
  expect(news({ used: 0.05 }, { used: 0 })).toHaveLength(1);
  expect([news({ used: 0.8 }, { used: 0.81 }), news({ used: 1 }, { used: 1.01 })]).toEqual([[], []]);
});

test('of two records of an account at the same time, the windows of the second count', () => {
  const of = (used: number): Account => ({ id: 'claude', at: 7, windows: [{ name: 'week', used }] });
  expect(mergeAccounts(of(0.1), of(0.2)).windows).toEqual([{ name: 'week', used: 0.2 }]);
});

test('the share of a key is the same in every version', () => {
  expect([shareOf(''), shareOf('demo/ada')].map((share) => share.toFixed(6))).toEqual(['0.104263', '0.753920']);
});

test('members go on within a fifth of a short limit, each at its moment', () => {
  const spread = Math.round(2_000 * shareOf('demo/ada'));
  const freed = { ...account(), freed: { at: 1_000, waited: 10_000 } };
  const begin = 1_000 + spread;
  expect(accountGate(freed, 'demo/ada', begin - 1)).toEqual({ kind: 'closed', until: begin });
  expect(accountGate(freed, 'demo/ada', begin)).toEqual({ kind: 'open', isTry: false });
  const limit = { ...LIMIT, since: 50_000, until: 60_000 };
  expect(accountGate(account(limit), 'demo/ada', 55_000)).toEqual({ kind: 'closed', until: 60_000 + spread });
  expect(accountGate(account(limit), 'demo/ada', 60_000 + spread)).toEqual({ kind: 'open', isTry: true });
});

test('a question about something else does not stand for the one about a login', () => {
  const team = teamOf('ann');
  team.as('ann', 'member.change', { memberId: 'ann', account: 'claude' });
  team.as('ann', 'account.report', { memberId: 'ann', cause: 'unauthorised', reason: 'no login' });
  const about = { memberId: 'ann', content: 'x', detail: { account: 'claude' } };
  team.as('@system', 'request.raise', { ...about, kind: 'account', detail: undefined });
  team.as('@system', 'request.raise', { ...about, kind: 'account', detail: { account: 'codex' } });
  team.as('@system', 'request.raise', { ...about, kind: 'hang' });
  const question = loginQuestion(team.state, 'claude', undefined);
  expect(question).toMatchObject({ kind: 'account', memberId: 'ann' });
  // One that was asked in the moment in which the login failed does.
  const [, last] = [...team.state.requests.values()];
  if (last) {
    const requestedAt = new Date(team.state.accounts.get('claude')?.limit?.since ?? 0);
    team.state.requests.set(last.id, { ...last, detail: { account: 'claude' }, requestedAt });
  }
  expect(loginQuestion(team.state, 'claude', undefined)).toBeUndefined();
});

import { expect, onTestFinished, test } from 'vitest';
import { USER } from '../../src/core/actor.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { keepAccounts } from '../../src/runtime/account-keeper.ts';
import { until } from '../until.ts';

const ACCOUNT = 'claude';
const TEAMS = ['alpha', 'beta', 'gamma'] as const;
const CLEAR = { type: 'account.set', by: USER, account: ACCOUNT, limit: null } as const;

/** Teams whose one member uses the same account. */
async function openTeams() {
  const ledger = new Ledger(memoryJournal(), { exclusive: true });
  const errors: unknown[] = [];
  const accounts = keepAccounts(ledger, (error) => errors.push(error));
  onTestFinished(() => {
    accounts.close();
    expect(errors).toEqual([]);
  });
  const run = (teamId: string, command: NewCommand) => ledger.execute(teamId, command, () => undefined);
  for (const teamId of TEAMS) {
    await run(teamId, { type: 'team.create', by: USER, ...CreateTeamInput.parse({ name: teamId }) });
    await run(teamId, { type: 'member.join', by: USER, ...JoinInput.parse({ name: 'ann', status: 'active' }) });
    await run(teamId, { type: 'member.change', by: 'ann', memberId: 'ann', account: ACCOUNT });
  }
  const report = (
    teamId: string,
    facts: Pick<NewCommand & { type: 'account.report' }, 'cause' | 'windows' | 'knownAt'>,
    later = 0,
  ) => {
    const resetsAt = Date.now() + (1 + later) * 3_600_000;
    return run(teamId, { type: 'account.report', by: 'ann', memberId: 'ann', resetsAt, ...facts });
  };
  const limited = () =>
    Promise.all(
      TEAMS.map((teamId) => ledger.view(teamId, (state) => state.accounts.get(ACCOUNT)?.limit !== undefined)),
    );
  return { ledger, accounts, run, report, limited };
}

test('teams that hear at once of a limit and of its end agree, and each is told once', async () => {
  const { ledger, accounts, run, report, limited } = await openTeams();
  let told = 0;
  ledger.subscribe((_teamId, { events }) => (told += events.length));
  for (let round = 1; round <= 50; round++) {
    await report('alpha', { cause: 'limited' });
    await until('all teams know', async () => (await limited()).every(Boolean));
    told = 0;
    // A later reset is news.
    await Promise.all([report('alpha', { cause: 'limited' }, round), run('beta', CLEAR)]);
    await until('all teams agree', async () => {
      const [first, ...others] = [...(await limited()), accounts.list()[0]?.limit !== undefined];
      return others.every((one) => one === first);
    });
    // Each team hears of both, if the older one came first.
    expect(told).toBeLessThanOrEqual(2 * TEAMS.length);
    await run('gamma', CLEAR);
    await until('no team is limited', async () => (await limited()).every((one) => !one));
    expect(accounts.list().map(({ limit }) => limit)).toEqual([undefined]);
  }
});

test('a turn that began before a limit ended does not bring it back, the next one does', async () => {
  const { accounts, run, report, limited } = await openTeams();
  const enter = async (teamId: string) => {
    const entry = await accounts.enter(teamId, 'ann');
    return 'limitAt' in entry && entry.free ? (entry.limitAt ?? 0) : expect.fail('it may not begin');
  };
  const [first, second] = [await enter('alpha'), await enter('beta')];
  await report('alpha', { cause: 'limited', knownAt: first });
  await until('all teams know', async () => (await limited()).every(Boolean));
  await run('gamma', CLEAR);
  await until('no team is limited', async () => (await limited()).every((one) => !one));
  await report('beta', { cause: 'limited', knownAt: second });
  expect(await limited()).toEqual([false, false, false]);
  const third = await until('it may begin', async () => (await accounts.enter('beta', 'ann')).free && enter('beta'));
  await report('beta', { cause: 'limited', knownAt: third });
  await until('all teams know again', async () => (await limited()).every(Boolean));
});

test('what another team says about windows does not end a limit', async () => {
  const { accounts, report, limited } = await openTeams();
  for (const used of [0.2, 0.5, 0.9]) {
    await Promise.all([report('alpha', { cause: 'limited' }), report('beta', { windows: [{ name: 'week', used }] })]);
    await until('all teams know', async () => (await limited()).every(Boolean));
    expect(accounts.list()).toMatchObject([{ limit: { cause: 'limited' }, windows: [{ name: 'week', used }] }]);
  }
});

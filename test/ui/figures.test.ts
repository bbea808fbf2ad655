import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Home } from '../../src/client/home.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTaskInput } from '../../src/core/task.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, openPage, useBrowser } from './browser.ts';
import { HomeLedger } from './home-ledger.ts';
import { setStage, useDashboard } from './stage.ts';

useDashboard();
const browser = useBrowser();

const TEAM = 'waits';
const MINUTE = 60_000;

/** A plan that waits, a plan that was waited for, a gate that gave up, one task that waits for another; no agent tells what it used. */
async function writeWaits(home: Home): Promise<void> {
  const ledger = new HomeLedger(home);
  const start = Date.now() - 60.5 * MINUTE;
  const join = (name: string): NewCommand => ({ type: 'member.join', by: 'lead', ...JoinInput.parse({ name }) });
  const task = (title: string, needs: readonly string[] = []): NewCommand => ({
    type: 'task.create',
    by: 'lead',
    ...CreateTaskInput.parse({ title, dependencies: needs }),
  });
  const gate = { kind: 'gate', memberId: 'gus', taskId: '3', content: 'npm test: 1 failed' } as const;
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, turns: 1 };
  const told = { memberId: 'gus', taskId: '3', usage: { ...usage, costUsd: 0, estimated: false } };
  const steps: readonly (readonly [minute: number, command: NewCommand])[] = [
    [0, { type: 'team.create', by: '@user', ...CreateTeamInput.parse({ name: TEAM }) }],
    ...['pia', 'pat', 'gus', 'will'].map((name) => [0, join(name)] as const),
    [0, task('Its plan waits')],
    [0, task('Its plan was waited for')],
    [0, task('At the gate')],
    [0, task('Waits for another', ['3'])],
    [0, task('Just done')],
    [0, { type: 'task.claim', by: 'pia', taskId: '1' }],
    [0, { type: 'task.claim', by: 'pat', taskId: '2' }],
    [0, { type: 'task.claim', by: 'gus', taskId: '3' }],
    [0, { type: 'task.claim', by: 'will', taskId: '5' }],
    [10, { type: 'plan.submit', by: 'pat', content: 'First this, then that' }],
    [20, { type: 'plan.submit', by: 'pia', content: 'First that, then this' }],
    [25, { type: 'usage.record', by: 'gus', ...told }],
    [45, { type: 'request.raise', by: '@system', ...gate }],
  ];
  for (const [minute, command] of steps) {
    await ledger.execute(TEAM, { ...command, at: start + minute * MINUTE }, () => undefined);
  }
  // Whoever answers needs its id, which the journal chose.
  const plan = await ledger.view(TEAM, ({ requests }) =>
    [...requests.values()].find(({ memberId }) => memberId === 'pat'),
  );
  const approve = { type: 'plan.approve', by: 'lead', requestId: plan?.id ?? '' } as const;
  await ledger.execute(TEAM, { ...approve, at: start + 50 * MINUTE }, () => undefined);
  await ledger.close();
}

/** Opens a page of the team. */
async function open(path = '') {
  const stage = await setStage(writeWaits);
  const watched = await openPage(browser(), stage.client, `/t/${TEAM}${path}`);
  return {
    ...stage,
    watched,
    page: watched.page,
    go: (to: string) => watched.page.goto(new URL(to, watched.page.url()).href),
  };
}

/** A text without what is between its words. */
async function read(page: Page, selector: string, hasText: string): Promise<string> {
  return (await page.locator(selector, { hasText }).first().innerText()).replaceAll(/\s+/g, ' ');
}

describe('the figures of a team', () => {
  test('of work do not count waits for an answer, and are the same wherever they are shown', async (context) => {
    needTool(context, 'chromium');
    const { page, watched, go, client } = await open('?view=list');
    await page.locator('.list-row').nth(4).waitFor();
    const status = (title: string): Promise<string> =>
      page.locator('.list-row', { hasText: title }).locator('.list-status').innerText();
    expect(await status('Its plan waits')).toMatch(/^In progress\s*· waits 40m$/);
    expect(await status('Its plan was waited for')).toMatch(/^In progress\s*· 20m$/);
    expect(await status('At the gate')).toMatch(/^At the gate\s*· 15m$/);
    expect(await status('Waits for another')).toBe('Blocked');
    expect(await read(page, '.side .member', 'pia')).toMatch(/Waits for you #1 Its plan waits · 40m$/);
    expect(await read(page, '.side .member', 'pat')).toMatch(/Working #2 Its plan was waited for · 20m$/);
    expect(await read(page, '.side .member', 'gus')).toMatch(/Waits for you #3 At the gate · 15m$/);
    for (const [taskId, worked] of [
      ['1', '20m'],
      ['2', '20m'],
      ['3', '45m'],
    ]) {
      await go(`/t/${TEAM}/task/${taskId}?view=list`);
      await eventually(() => read(page, '.sheet .facts', 'Worked on')).toContain(`Worked on ${worked}`);
    }
    await go(`/t/${TEAM}/numbers`);
    const spent = page.getByRole('region', { name: 'Working and waiting' });
    await spent.getByText('pia').waitFor();
    expect((await spent.locator('.bar-row').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
      'W will 1 h of 1 h',
      'G gus 45m of 1 h',
      'P pat 20m of 1 h',
      'P pia 20m of 1 h',
    ]);
    await go(`/t/${TEAM}/m/pat`);
    await eventually(() => read(page, '.member-facts', 'State')).toContain('State Working for 20m');
    // An answer is seen at once.
    await go(`/t/${TEAM}?view=list`);
    const plan = (await client.call('request.list', { teamId: TEAM, status: 'pending' })).find(
      ({ kind }) => kind === 'plan',
    );
    await client.call('plan.approve', { teamId: TEAM, requestId: plan?.id ?? '' });
    await eventually(() => status('Its plan waits')).toMatch(/^In progress\s*· 20m$/);
    expectQuiet(watched);
  });

  test('grow on the page of numbers though nothing happens', async (context) => {
    needTool(context, 'chromium');
    const { watched, page, go, client } = await open();
    await client.call('team.create', { name: 'fresh' });
    await client.call('member.add', { teamId: 'fresh', name: 'ann' });
    await client.call('task.create', { teamId: 'fresh', title: 'Takes its time' });
    await client.call('task.claim', { teamId: 'fresh', taskId: '1' }, { as: 'ann' });
    await go('/t/fresh/numbers');
    const row = page.getByRole('region', { name: 'Working and waiting' }).locator('.bar-row', { hasText: 'ann' });
    const first = await row.innerText();
    await eventually(() => row.innerText()).not.toBe(first);
    expectQuiet(watched);
  });

  test('that nobody reported are not shown as nothing', async (context) => {
    needTool(context, 'chromium');
    const { watched, page, go, client } = await open('/task/3?view=list');
    await page.locator('.sheet .facts').waitFor();
    const main = (): Promise<string> => page.locator('main').innerText();
    const none = /\$0\.00|\b0 tok|tokens\s+0\b/i;
    expect(await main()).not.toMatch(none);
    expect(await page.locator('.sheet .facts').innerText()).not.toContain('Used');
    expect(await page.locator('.team-head .figures').innerText()).toMatch(/^Critical path\s+2 left$/);
    await go('/');
    const cells = page.getByRole('row', { name: /^waits/ }).getByRole('cell');
    await cells.first().waitFor();
    expect((await cells.allInnerTexts()).slice(3, 5)).toEqual(['–', '–']);
    await go(`/t/${TEAM}/m/gus?tab=usage`);
    await page.getByText('Nothing reported yet').waitFor();
    expect((await page.locator('.big-figures').innerText()).split(/\s+/)).toEqual([
      '–',
      'tokens',
      '–',
      'cost',
      '1',
      'turns',
    ]);
    await go(`/t/${TEAM}/numbers`);
    await page.getByText('No agent of this team has reported a cost.').waitFor();
    expect(await main()).not.toMatch(none);
    // One that tells its tokens and no cost has the one and not the other.
    await client.call('usage.record', { teamId: TEAM, memberId: 'gus', usage: { inputTokens: 1_200, turns: 1 } });
    const row = page.getByRole('region', { name: 'Tokens and cost by member' }).locator('.bar-row');
    await eventually(() => row.allInnerTexts()).toEqual([expect.stringMatching(/^G\s+gus\s+1\.2k$/)]);
    await go(`/t/${TEAM}?view=list`);
    await eventually(() => read(page, '.side .member', 'gus')).toMatch(/1\.2k tok$/);
    expectQuiet(watched);
  });
});

import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Home } from '../../src/client/home.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTaskInput } from '../../src/core/task.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, follow, useBrowser, usePage } from './browser.ts';
import { HomeLedger } from './home-ledger.ts';
import { useStage } from './stage.ts';

/** All durations are days, which the page shows without hours. So they do not depend on the time a test takes. */
const DAY = 86_400_000;

/** A pending plan, an answered plan, a gate that gave up and a blocked task. No agent reports its usage. */
async function writeWaits(home: Home, team: string): Promise<void> {
  const ledger = new HomeLedger(home);
  const start = Date.now() - 60.5 * DAY;
  const join = (name: string): NewCommand => ({ type: 'member.join', by: 'lead', ...JoinInput.parse({ name }) });
  const task = (title: string, needs: readonly string[] = []): NewCommand => ({
    type: 'task.create',
    by: 'lead',
    ...CreateTaskInput.parse({ title, dependencies: needs }),
  });
  const gate = {
    kind: 'gate',
    memberId: 'gus',
    taskId: '3',
    content: 'npm test: 1 failed',
    within: 100 * DAY,
  } as const;
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, turns: 1 };
  const told = { memberId: 'gus', taskId: '3', usage: { ...usage, costUsd: 0, estimated: false } };
  const steps: readonly (readonly [day: number, command: NewCommand])[] = [
    [0, { type: 'team.create', by: '@user', ...CreateTeamInput.parse({ name: team }) }],
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
  for (const [day, command] of steps) {
    await ledger.execute(team, { ...command, at: start + day * DAY }, () => undefined);
  }
  // The answer needs the id of the request, which was generated.
  const plan = await ledger.view(team, ({ requests }) =>
    [...requests.values()].find(({ memberId }) => memberId === 'pat'),
  );
  const approve = { type: 'plan.approve', by: 'lead', requestId: plan?.id ?? '' } as const;
  await ledger.execute(team, { ...approve, at: start + 50 * DAY }, () => undefined);
  await ledger.close();
}

const browser = useBrowser();
const stage = useStage(async (home) => {
  for (const team of ['work', 'waits']) await writeWaits(home, team);
});
const openAt = usePage(browser, stage);

/** Opens a page of a team. */
async function open(path: string) {
  const watched = await openAt(path);
  return {
    ...stage(),
    watched,
    page: watched.page,
    go: (to: string) => follow(watched.page, to),
  };
}

/** The text of an element, with single spaces between words. */
async function read(page: Page, selector: string, hasText: string): Promise<string> {
  return (await page.locator(selector, { hasText }).first().innerText()).replaceAll(/\s+/g, ' ');
}

describe('the figures of a team', () => {
  test('of work exclude waits for an answer, and are the same wherever they are shown', async (context) => {
    needTool(context, 'chromium');
    const team = 'work';
    const { page, watched, go, client } = await open(`/t/${team}?view=list`);
    await page.locator('.list-row').nth(4).waitFor();
    const status = (title: string): Promise<string> =>
      page.locator('.list-row', { hasText: title }).locator('.list-status').innerText();
    expect(await status('Its plan waits')).toMatch(/^In progress\s*· waits 40 d$/);
    expect(await status('Its plan was waited for')).toMatch(/^In progress\s*· 20 d$/);
    expect(await status('At the gate')).toMatch(/^At the gate\s*· 15 d$/);
    expect(await status('Waits for another')).toBe('Blocked');
    expect(await read(page, '.side .member', 'pia')).toMatch(/Waits for you #1 Its plan waits · 40 d$/);
    expect(await read(page, '.side .member', 'pat')).toMatch(/Working #2 Its plan was waited for · 20 d$/);
    expect(await read(page, '.side .member', 'gus')).toMatch(/Waits for you #3 At the gate · 15 d$/);
    for (const [taskId, worked] of [
      ['1', '20 d'],
      ['2', '20 d'],
      ['3', '45 d'],
    ]) {
      await go(`/t/${team}/task/${taskId}?view=list`);
      await page.getByRole('dialog', { name: `Task ${taskId}:` }).waitFor();
      await eventually(() => read(page, '.sheet .facts', 'Worked on')).toContain(`Worked on ${worked}`);
    }
    await go(`/t/${team}/numbers`);
    const spent = page.getByRole('region', { name: 'Working and waiting' });
    await spent.getByText('pia').waitFor();
    expect((await spent.locator('.bar-row').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
      'W will 60 d of 60 d',
      'G gus 45 d of 60 d',
      'P pat 20 d of 60 d',
      'P pia 20 d of 60 d',
    ]);
    await go(`/t/${team}/m/pat`);
    await eventually(() => read(page, '.member-facts', 'State')).toContain('State Working for 20 d');
    // The page shows an answer at once.
    await go(`/t/${team}?view=list`);
    const plan = (await client.call('request.list', { teamId: team, status: 'pending' })).find(
      ({ kind }) => kind === 'plan',
    );
    await client.call('plan.approve', { teamId: team, requestId: plan?.id ?? '' });
    await eventually(() => status('Its plan waits')).toMatch(/^In progress\s*· 20 d$/);
    expectQuiet(watched);
  });

  test('grow with time on the numbers page, without any event', async (context) => {
    needTool(context, 'chromium');
    const { watched, page, go, client } = await open('/');
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

  test('are shown as missing, not as zero, if nobody reported them', async (context) => {
    needTool(context, 'chromium');
    const team = 'waits';
    const { watched, page, go, client } = await open(`/t/${team}/task/3?view=list`);
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
    await go(`/t/${team}/m/gus?tab=usage`);
    await page.getByText('Nothing reported yet').waitFor();
    expect((await page.locator('.big-figures').innerText()).split(/\s+/)).toEqual([
      '–',
      'tokens',
      '–',
      'cost',
      '1',
      'turns',
    ]);
    await go(`/t/${team}/numbers`);
    await page.getByText('No agent of this team has reported a cost.').waitFor();
    expect(await main()).not.toMatch(none);
    // An agent that reports tokens but no cost has only tokens.
    await client.call('usage.record', { teamId: team, memberId: 'gus', usage: { inputTokens: 1_200, turns: 1 } });
    const row = page.getByRole('region', { name: 'Tokens and cost by member' }).locator('.bar-row');
    await eventually(() => row.allInnerTexts()).toEqual([expect.stringMatching(/^G\s+gus\s+1\.2k$/)]);
    await go(`/t/${team}?view=list`);
    await eventually(() => read(page, '.side .member', 'gus')).toMatch(/1\.2k tok$/);
    expectQuiet(watched);
  });
});

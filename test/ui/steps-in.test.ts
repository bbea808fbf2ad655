import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Home } from '../../src/client/home.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, follow, openPage, pressInRow, useBrowser, usePage } from './browser.ts';
import { writePast } from './home-ledger.ts';
import { launchBrowser } from './launch.ts';
import { setStage, useStage } from './stage.ts';
import { writeStories } from './story.ts';

const browser = useBrowser();
const stage = useStage((home) => writeStories(home, ['mended', 'sent-back', 'lets-pass', 'numbers']));
const open = usePage(browser, stage);

const AGENTS = join(import.meta.dirname, '../fixtures/agents');
const TEAM = 'demo';

/** Members with pending requests: a plan, a restart, a budget and a permission. Troupe itself raised two of them. */
async function writeRequests(home: Home): Promise<void> {
  const raise = { type: 'request.raise', by: '@system', memberId: 'ada' } as const;
  const steps: readonly NewCommand[] = [
    { type: 'team.create', by: '@user', ...CreateTeamInput.parse({ name: TEAM }) },
    { type: 'member.join', by: 'lead', ...JoinInput.parse({ name: 'ada' }) },
    { type: 'member.change', by: '@user', memberId: 'ada', budget: { turns: 1 } },
    { type: 'usage.record', by: '@system', memberId: 'ada', usage: { ...NO_USAGE, turns: 1 } },
    { type: 'plan.submit', by: 'ada', content: '# Plan\n\n1. look' },
    { type: 'member.join', by: 'lead', ...JoinInput.parse({ name: 'bo' }) },
    { type: 'member.leave', by: '@system', memberId: 'bo', reason: 'crashed', returning: false },
    { ...raise, kind: 'restart', memberId: 'bo', content: 'bo crashed 5 times in 10 minutes' },
    { ...raise, kind: 'budget', content: 'ada used its turn', detail: { of: 'member', what: 'turns', limit: 1 } },
    { ...raise, kind: 'permission', by: 'ada', content: 'npm publish' },
  ];
  await writePast(home, TEAM, steps);
}

/** The line in the queue for a team's gate that gave up. */
const gateLine = (page: Page, teamId: string) =>
  page.locator('.queue-line', { hasText: 'Rejected work' }).filter({ hasText: `ada · ${teamId}` });

describe('a new request', () => {
  test('causes a desktop notification if nobody looks at the page, and a click on it opens the request', async (context) => {
    needTool(context, 'chromium');
    const { client } = await setStage();
    await client.call('team.create', { name: TEAM });
    await client.call('member.add', { teamId: TEAM, name: 'ada' });
    const whole = await launchBrowser();
    onTestFinished(() => whole.close());
    const watched = await openPage(whole, client, '/queue');
    const { page, context: tab } = watched;
    // Without permission there are no notifications. The page asks for it only when the button is pressed.
    await page.getByRole('button', { name: 'Notify me' }).waitFor();
    await tab.grantPermissions(['notifications']);
    await page.addInitScript({ path: join(import.meta.dirname, 'pages/notices.js') });
    await page.reload();
    await page.getByText('Notifications are on').waitFor();
    const raise = (content: string) =>
      client.call('request.raise', { teamId: TEAM, kind: 'permission', memberId: 'ada', content }, { as: 'ada' });
    await raise('npm test');
    await eventually(() => page.title()).toBe('(1) Queue · Troupe');
    await page.evaluate(`Object.defineProperty(document, 'hidden', { get: () => true })`);
    const request = await raise('rm -rf build');
    // A request that was visible in the page causes no notification.
    await eventually(() => page.evaluate('notices.map(({ text }) => text)')).toEqual([
      'Permission · ada: rm -rf build',
    ]);
    await pressInRow(page, 'g', 't');
    await page.evaluate(`notices[0].notice.dispatchEvent(new Event('click'))`);
    await page.locator('.queue-detail').getByText('rm -rf build').waitFor();
    expect(decodeURIComponent(page.url())).toContain(`${TEAM}/${request.id}`);
    expectQuiet(watched);
  });

  test('of every kind has its own words for yes and no: a crash, a budget, a permission, a plan', async (context) => {
    needTool(context, 'chromium');
    const { client } = await setStage(writeRequests);
    const watched = await openPage(browser(), client, '/queue');
    const { page } = watched;
    const detail = page.locator('.queue-detail');
    for (const [name, yes, no] of [
      ['Plan of ada', 'Approve', 'Reject…'],
      ['Crashed too often of bo', 'Start again', 'Leave stopped…'],
      ['Budget reached of ada', 'Go on', 'Stop…'],
      ['Permission of ada', 'Allow', 'Deny…'],
    ] as const) {
      await detail.getByRole('heading', { name }).waitFor();
      expect(await detail.locator('[data-answer]').allInnerTexts()).toEqual([yes, no]);
      await page.keyboard.press('j');
    }
    const settled = detail.locator('[data-answer=yes]:enabled');
    await settled.waitFor();
    await page.keyboard.press('a');
    await eventually(() => page.title()).toBe('(3) Queue · Troupe');
    for (const name of ['Budget reached of ada', 'Crashed too often of bo', 'Plan of ada']) {
      await page.keyboard.press('k');
      await detail.getByRole('heading', { name }).waitFor();
    }
    await settled.waitFor();
    await page.keyboard.press('a');
    await eventually(() => page.title()).toBe('(2) Queue · Troupe');
    // By clicks: bo stays stopped and the budget is not raised, each with a reason.
    for (const [name, no, why] of [
      ['Crashed too often of bo', 'Leave stopped', 'It has no disk'],
      ['Budget reached of ada', 'Stop', 'Enough for today'],
    ] as const) {
      await page.locator('.queue-line', { hasText: name.split(' of ')[0] ?? '' }).click();
      await detail.getByRole('heading', { name }).waitFor();
      await detail.getByRole('button', { name: `${no}…` }).click();
      await detail.getByRole('textbox').fill(why);
      await detail.getByRole('button', { name: no, exact: true }).click();
      await eventually(() => page.locator('.queue-line', { hasText: name.split(' of ')[0] ?? '' }).count()).toBe(0);
    }
    await page.getByText('Nothing else waits for you').waitFor();
    const answers = await client.call('request.list', { teamId: TEAM });
    expect(
      Object.fromEntries(answers.map(({ kind, status, feedback }) => [kind, `${status} ${feedback ?? ''}`])),
    ).toEqual({
      plan: 'approved ',
      permission: 'approved ',
      restart: 'rejected It has no disk',
      budget: 'rejected Enough for today',
    });
    expectQuiet(watched);
  });

  test('of a gate that gave up lets the repaired gate judge the work again', async (context) => {
    needTool(context, 'chromium');
    const { client } = stage();
    const teamId = 'mended';
    const hook = { teamId, type: 'TaskCompleted', onFailure: 'block' } as const;
    await client.call('hook.register', { ...hook, command: 'echo "1 test fails" >&2; exit 2' });
    const watched = await open('/queue');
    const { page } = watched;
    const [line, detail] = [gateLine(page, teamId), page.locator('.queue-detail')];
    await line.click();
    await detail.getByRole('button', { name: 'Judge again' }).click();
    await detail.getByText('1 test fails').waitFor();
    expect(await client.call('task.show', { teamId, taskId: '13' })).toMatchObject({ status: 'in_progress' });
    await client.call('hook.remove', { teamId, type: hook.type });
    await client.call('hook.register', { ...hook, command: 'true' });
    await detail.getByRole('button', { name: 'Judge again' }).click();
    await eventually(() => line.count()).toBe(0);
    await eventually(() => client.call('task.show', { teamId, taskId: '13' })).toMatchObject({ status: 'completed' });
    expectQuiet(watched);
  });

  test('of a gate that gave up lets a person send the work back with what has to change', async (context) => {
    needTool(context, 'chromium');
    const teamId = 'sent-back';
    const { client } = stage();
    const watched = await open('/queue');
    const { page } = watched;
    const detail = page.locator('.queue-detail');
    await gateLine(page, teamId).click();
    await detail.getByRole('button', { name: 'Send back…' }).click();
    await detail.getByRole('textbox').fill('Run it on all three stores');
    await detail.getByRole('button', { name: 'Send back', exact: true }).click();
    await eventually(() => gateLine(page, teamId).count()).toBe(0);
    await eventually(() => client.call('task.show', { teamId, taskId: '13' })).toMatchObject({
      status: 'pending',
      rejections: 0,
      feedback: 'Run it on all three stores',
    });
    await follow(page, `/t/${teamId}/task/13?view=list`);
    const sheet = page.getByRole('dialog', { name: /Task 13/ });
    await sheet.locator('.sheet-part', { hasText: 'Why it was sent back' }).getByText('on all three stores').waitFor();
    expectQuiet(watched);
  });
});

describe('a live team of programs', () => {
  test('can be steered by two people at once: drawn edges, a board and a queue that agree', async (context) => {
    needTool(context, 'chromium');
    const { client } = stage();
    await client.call('team.create', { name: TEAM });
    const go = join(temporaryFolder(), 'go');
    const command = ['/usr/bin/env', `WORK_UNTIL=${go}`, join(AGENTS, 'slow.js')];
    for (const title of ['First', 'Second', 'Third']) await client.call('task.create', { teamId: TEAM, title });
    const one = await open(`/t/${TEAM}?view=graph`);
    const other = await openPage(browser(), client, `/t/${TEAM}?view=board`);
    await one.page.locator('.graph[data-nodes="3"]').waitFor();

    // One person draws an edge: the third task waits for the second. The other person sees it at once.
    const source = one.page.locator('.react-flow__node[data-id="2"]');
    await source.hover();
    await source.locator('.react-flow__handle-right').hover();
    await one.page.mouse.down();
    const target = await one.page.locator('.react-flow__node[data-id="3"]').boundingBox();
    await one.page.mouse.move((target?.x ?? 0) + 4, (target?.y ?? 0) + (target?.height ?? 0) / 2, { steps: 8 });
    await one.page.mouse.up();
    await one.page.getByText('#3 now waits for #2').waitFor();
    await other.page.locator('.column[data-phase="blocked"] [data-task="3"]').waitFor();

    // A program claims the first task, and both people see it work.
    await client.call('member.spawn', { teamId: TEAM, name: 'worker', agent: { kind: 'exec', command } });
    await one.page.locator('.node.is-in_progress').getByText('First').waitFor();
    const working = other.page.locator('.column[data-phase="in_progress"]');
    await working.locator('[data-task="1"]').waitFor();

    // The other person completes the second task by hand, which unblocks the third.
    await other.page.locator('[data-task="2"] a').focus();
    await other.page.keyboard.press('m');
    await other.page.getByRole('menuitem', { name: /^Completed/ }).press('Enter');
    await one.page.locator('.node.is-completed').getByText('Second').waitFor();
    await other.page.locator('.column[data-phase="pending"] [data-task="3"]').waitFor();
    writeFileSync(go, '');
    await eventually(() => one.page.locator('.team-count').innerText()).toBe('3 of 3');
    await eventually(() => other.page.locator('.team-count').innerText()).toBe('3 of 3');
    await one.page.locator('.team-head').getByText('All completed').waitFor();

    // The numbers page shows what the program did.
    await pressInRow(one.page, 'g', 'n');
    await one.page.locator('.figure', { hasText: 'Completed' }).locator('b').getByText('3', { exact: true }).waitFor();
    await one.page.getByRole('region', { name: 'Working and waiting' }).getByText('worker').waitFor();
    await client.call('team.down', { teamId: TEAM, force: true });
    expectQuiet(one, other);
  });
});

test('a gate that fails and lets work pass is shown beside the tasks until it works again', async (context) => {
  needTool(context, 'chromium');
  const { client } = stage();
  const teamId = 'lets-pass';
  const hook = { teamId, type: 'TaskCompleted' } as const;
  const complete = async (): Promise<void> => {
    const { id: taskId } = await client.call('task.create', { teamId, title: 'Judged' });
    await client.call('task.claim', { teamId, taskId }, { as: 'lead' });
    await client.call('task.complete', { teamId, taskId }, { as: 'lead' });
  };
  await client.call('hook.register', { ...hook, command: 'test -e ./mended' });
  await complete();
  const watched = await open(`/t/${teamId}`);
  const told = watched.page.getByRole('region', { name: 'Hooks that let work pass' });
  await told.getByText('The TaskCompleted hook "test -e ./mended" failed with exit code 1.').waitFor();
  await client.call('hook.remove', hook);
  await client.call('hook.register', { ...hook, command: 'true' });
  await complete();
  await eventually(() => told.count()).toBe(0);
  expectQuiet(watched);
});

test('the numbers of a team add up, follow events, and link to what they are about', async (context) => {
  needTool(context, 'chromium');
  const { client } = stage();
  const team = 'numbers';
  const watched = await open(`/t/${team}/numbers`);
  const { page } = watched;
  const figure = (name: string) => page.locator('.figure', { hasText: name }).locator('b');
  await page.locator('.plot canvas').first().waitFor();
  expect(await figure('Completed').innerText()).toBe('9');
  const { members } = await client.call('usage.show', { teamId: team });
  const cost = Object.values(members).reduce((sum, { costUsd = 0 }) => sum + costUsd, 0);
  expect(await figure('Cost').innerText()).toBe(`$${cost.toFixed(2)}`);
  await page.getByRole('img', { name: /^9 of 24 tasks completed/ }).waitFor();
  // cleo wrote to the lead once, so cleo has a row.
  const pairs = page.getByRole('region', { name: 'Messages by pair' });
  expect(await pairs.getByRole('row', { name: /^cleo/ }).allInnerTexts()).toHaveLength(1);
  await client.call('task.complete', { teamId: team, taskId: '8', result: 'fine' }, { as: 'dag' });
  await eventually(() => figure('Completed').innerText()).toBe('10');
  await page.getByRole('region', { name: 'Tokens and cost by task' }).getByRole('link', { name: /^#13/ }).click();
  await page.getByRole('dialog', { name: /Task 13/ }).waitFor();
  expectQuiet(watched);
});

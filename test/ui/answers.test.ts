import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Home } from '../../src/client/home.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { until } from '../until.ts';
import { eventually, expectQuiet, openPage, useBrowser, usePage } from './browser.ts';
import { writePast } from './home-ledger.ts';
import { setStage, useStage } from './stage.ts';

const AGENTS = join(import.meta.dirname, '../fixtures/agents');
const TEAM = 'demo';
const CLICKS = 'clicks';
const LONG = 'long';

/** Two members that crashed too often: bo has a program that works now, cy was run by somebody else. */
async function writeCrashed(home: Home): Promise<void> {
  const agent = { kind: 'exec', command: [join(AGENTS, 'quick.js')] } as const;
  const crash = (memberId: string): NewCommand[] => [
    { type: 'member.leave', by: '@system', memberId, reason: 'crashed: exit code 1', returning: false },
    { type: 'request.raise', by: '@system', kind: 'restart', memberId, content: `${memberId} crashed again and again` },
  ];
  const steps: readonly NewCommand[] = [
    { type: 'team.create', by: '@user', ...CreateTeamInput.parse({ name: TEAM }) },
    { type: 'member.join', by: 'lead', ...JoinInput.parse({ name: 'ada' }) },
    { type: 'request.raise', by: 'ada', kind: 'permission', memberId: 'ada', content: 'npm test' },
    { type: 'member.join', by: 'lead', ...JoinInput.parse({ name: 'bo', agent }) },
    ...crash('bo'),
    { type: 'member.join', by: 'lead', ...JoinInput.parse({ name: 'cy' }) },
    ...crash('cy'),
  ];
  await writePast(home, TEAM, steps);
}

/** Commands that wait for a permission, one after the other. */
async function writeCommands(home: Home, team: string, commands: readonly string[]): Promise<void> {
  await writePast(home, team, [
    { type: 'team.create', by: '@user', ...CreateTeamInput.parse({ name: team }) },
    { type: 'member.join', by: 'lead', ...JoinInput.parse({ name: 'ada' }) },
    ...commands.map(
      (content) => ({ type: 'request.raise', by: 'ada', kind: 'permission', memberId: 'ada', content }) as const,
    ),
  ]);
}

/** Runs in a page before the dashboard does, and notes what the page sends to its daemon. */
const NOTE_SENT = `
  globalThis.sent = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (text) {
    sent.push(String(text));
    return send.call(this, text);
  };`;

/** Whether a button is there and takes a click. Unlike `isEnabled`, it does not wait: the page's clock may stand still. */
const isOn = async (button: Locator): Promise<boolean> =>
  (await button.and(button.page().locator(':enabled')).count()) > 0;

const browser = useBrowser();
const stage = useStage(async (home) => {
  await writeCommands(home, CLICKS, ['npm test', 'rm -rf ./build', 'npm publish']);
  await writeCommands(home, LONG, [`npm test${'\n'.repeat(60)}&& rm -rf ~`]);
});
const open = usePage(browser, stage);

describe('an answer from the queue', () => {
  test('takes effect: a crashed member is restarted or the page says why not; a member with a raised budget goes on', async (context) => {
    needTool(context, 'chromium');
    // The queue lists the requests of all teams, so this daemon has only one.
    const { client } = await setStage(writeCrashed);
    const watched = await openPage(browser(), client, '/queue');
    const { page } = watched;
    const detail = page.locator('.queue-detail');
    const heading = (name: string) => detail.getByRole('heading', { name }).waitFor();

    await heading('Permission of ada');
    const settled = () => detail.locator('[data-answer=yes]:enabled').waitFor();
    await page.keyboard.press('j');
    await heading('Crashed too often of bo');
    await settled();
    await page.keyboard.down('a');
    // The answered request stays. Neither the key that is still held down nor another press answers the next one.
    await detail.getByText('Started again').waitFor();
    await page.keyboard.down('a');
    await page.keyboard.up('a');
    await page.keyboard.press('a');
    await heading('Crashed too often of bo');
    // The next request comes when the person asks for it, not the first again.
    await page.keyboard.press('j');
    await heading('Crashed too often of cy');
    const ofCy = async () =>
      (await client.call('request.list', { teamId: TEAM, kind: 'restart' }))
        .filter(({ memberId }) => memberId === 'cy')
        .map(({ status }) => status);
    expect(await ofCy()).toEqual(['pending']);
    await settled();
    await page.keyboard.press('a');
    // An answer that cannot be carried out is refused, and the request still waits.
    await detail.getByText('Troupe does not run cy, so it cannot restart it').waitFor();
    expect(await ofCy()).toEqual(['pending']);
    await settled();
    await page.keyboard.press('r');
    await page.keyboard.type('It is gone');
    await page.keyboard.press('Control+Enter');
    await detail.getByText('Left stopped: It is gone').waitFor();
    await detail.getByRole('button', { name: 'Next request' }).click();
    await heading('Permission of ada');
    await eventually(() => page.title()).toBe('(1) Queue · Troupe');
    expect(await ofCy()).toEqual(['rejected']);
    await client.call('task.create', { teamId: TEAM, title: 'For bo', assigneeId: 'bo' });
    await eventually(async () => (await client.call('task.show', { teamId: TEAM, taskId: '1' })).status).toBe(
      'completed',
    );

    // dee may use only one turn, and has two tasks.
    const agent = { kind: 'exec', command: [join(AGENTS, 'quick.js')] } as const;
    await client.call('member.spawn', { teamId: TEAM, name: 'dee', agent, budget: { turns: 1 } });
    for (const title of ['Two', 'Three']) await client.call('task.create', { teamId: TEAM, title, assigneeId: 'dee' });
    await page.locator('.queue-line', { hasText: 'Budget reached' }).click();
    await heading('Budget reached of dee');
    await detail.getByText('1 turn of 1 turn is used').waitFor();
    expect((await client.call('task.show', { teamId: TEAM, taskId: '3' })).status).not.toBe('completed');
    // The button says how much it gives, and one can change it.
    await detail.getByRole('button', { name: 'Go on with 1 turn more' }).waitFor();
    await detail.getByLabel('How much more, in turns').fill('3');
    await detail.getByRole('button', { name: 'Go on with 3 turns more' }).click();
    await eventually(async () => (await client.call('task.show', { teamId: TEAM, taskId: '3' })).status).toBe(
      'completed',
    );

    const dee = await client.call('member.show', { teamId: TEAM, memberId: 'dee' });
    expect(dee.budget).toEqual({ turns: 4 });

    // A permission is denied with a reason.
    await page.locator('.queue-line', { hasText: 'Permission' }).click();
    await heading('Permission of ada');
    await detail.getByRole('button', { name: 'Deny…' }).click();
    await detail.getByRole('textbox').fill('Not on this machine');
    await detail.getByRole('button', { name: 'Deny', exact: true }).click();
    await eventually(() => page.locator('.queue-line', { hasText: 'Permission' }).count()).toBe(0);
    expect(await client.call('request.list', { teamId: TEAM, kind: 'permission' })).toMatchObject([
      { status: 'rejected', feedback: 'Not on this machine', answeredBy: '@user' },
    ]);

    // A question has its choices as buttons, and takes a text.
    for (const content of ['Which way?', 'How far?']) {
      await client.call('question.ask', { teamId: TEAM, content, choices: ['left', 'right'] }, { as: 'ada' });
    }
    await page.locator('.queue-line', { hasText: 'Which way?' }).click();
    await heading('Question of ada');
    await detail.getByRole('button', { name: 'right' }).click();
    await page.locator('.queue-line', { hasText: 'How far?' }).click();
    await detail.getByRole('textbox').fill('To the end');
    await detail.getByRole('button', { name: 'Answer', exact: true }).click();
    await eventually(async () =>
      (await client.call('request.list', { teamId: TEAM, kind: 'question' })).map((one) => one.choice ?? one.feedback),
    ).toEqual(['right', 'To the end']);
    await client.call('team.down', { teamId: TEAM, force: true });
    expectQuiet(watched);
  });

  test('is one answer: neither a double click, nor a key, nor an answer from elsewhere answers another request', async (context) => {
    needTool(context, 'chromium');
    const { client } = stage();
    const statuses = async () => (await client.call('request.list', { teamId: CLICKS })).map(({ status }) => status);
    const idOf = async (at: number) => (await client.call('request.list', { teamId: CLICKS }))[at]?.id as string;
    const watched = await openPage(browser(), client, `/t/${CLICKS}`, { script: NOTE_SENT, hasClock: true });
    const { page } = watched;
    const card = page.getByRole('article', { name: 'Permission of ada' }).first();
    const allow = card.getByRole('button', { name: 'Allow' });
    await card.getByText('npm test').waitFor();
    await allow.and(page.locator(':enabled')).waitFor();
    const answers = () => page.evaluate(`sent.filter((text) => text.includes('request.answer')).length`);
    const box = await allow.boundingBox();
    const click = () => page.mouse.click(box!.x + 5, box!.y + 5);
    // From here on the page's clock goes in small steps: what comes has just come.
    await page.clock.pauseAt(new Date(Date.now() + 60_000));
    const comes = (text: string) =>
      until(`${text} comes`, async () => {
        await page.clock.runFor(50);
        return card.getByText(text).isVisible();
      });
    const settles = async (name: string): Promise<void> => {
      const button = card.getByRole('button', { name });
      await until(`${name} takes a click`, async () => {
        await page.clock.runFor(50);
        return isOn(button);
      });
    };
    await settles('Allow');
    await click();
    await comes('Allowed');
    await click();
    await click();
    await page.keyboard.press('Enter');
    // The answer can be taken back, for nothing was sent.
    await settles('Undo');
    expect(await answers()).toBe(0);
    await card.getByRole('button', { name: 'Undo' }).click();
    await settles('Allow');
    await click();
    await click();
    await comes('Allowed');
    await page.clock.runFor(4_500);
    await click();
    await settles('Next');
    // The answered card stays where it is, and says what was answered.
    expect(await card.getByText('Allowed').isVisible()).toBe(true);
    expect(await card.getByText('npm test').isVisible()).toBe(true);
    expect(await answers()).toBe(1);
    expect(await statuses()).toEqual(['approved', 'pending', 'pending']);
    await card.getByRole('button', { name: 'Next' }).click();
    await comes('rm -rf ./build');
    await click();
    await page.keyboard.press('Enter');
    // Answered in another tab while this one still holds its answer: the first one counts, and this page says so.
    await settles('Allow');
    await click();
    await comes('Allowed');
    await client.call('request.answer', { teamId: CLICKS, requestId: await idOf(1), approve: false, feedback: 'No!' });
    await page.clock.runFor(4_500);
    await comes('it takes one answer');
    await comes('Denied: No!');
    expect(await answers()).toBe(2);
    await settles('Next');
    await card.getByRole('button', { name: 'Next' }).click();
    await comes('npm publish');
    // Answered in another tab while one aims: nothing else comes to its place.
    await settles('Allow');
    await client.call('request.answer', { teamId: CLICKS, requestId: await idOf(2), approve: false });
    await comes('Denied');
    await click();
    await settles('Next');
    await card.getByRole('button', { name: 'Next' }).click();
    // A card that arrives while one aims takes no click either.
    const late = { teamId: CLICKS, kind: 'permission', memberId: 'ada', content: 'npm run late' } as const;
    await client.call('request.raise', late, { as: 'ada' });
    await comes('npm run late');
    await click();
    await page.keyboard.press('Enter');
    expect(await answers()).toBe(2);
    expect(await statuses()).toEqual(['approved', 'rejected', 'rejected', 'pending']);
    expectQuiet(watched);
  });

  test('is given only after the end of the request was in view', async (context) => {
    needTool(context, 'chromium');
    const { client } = stage();
    const statuses = async () => (await client.call('request.list', { teamId: LONG })).map(({ status }) => status);
    const watched = await openPage(browser(), client, `/t/${LONG}`, { script: NOTE_SENT, hasClock: true });
    const { page } = watched;
    // A small card shows only its beginning, and has no button.
    await page.getByRole('link', { name: 'Read all of it, then answer' }).click();
    const detail = page.locator('.queue-detail');
    const allow = detail.getByRole('button', { name: 'Allow' });
    await allow.and(page.locator('[title="Read to the end first"]')).waitFor();
    await page.clock.pauseAt(new Date(Date.now() + 60_000));
    const end = () =>
      detail.getByText('rm -rf ~').evaluate((text) => {
        const { bottom } = text.getBoundingClientRect();
        return bottom <= (globalThis as unknown as { innerHeight: number }).innerHeight;
      });
    expect(await end()).toBe(false);
    expect(await allow.isDisabled()).toBe(true);
    await page.keyboard.press('a');
    await eventually(end).toBe(true);
    await eventually(() => allow.getAttribute('title')).toBe(null);
    // The end has just come into view: a second press is too early.
    await page.keyboard.press('a');
    expect(await allow.isDisabled()).toBe(true);
    await until('Allow takes a key', async () => {
      await page.clock.runFor(50);
      return isOn(allow);
    });
    await page.keyboard.press('a');
    await detail.getByText('Allowed').waitFor();
    // Before it is sent, a key takes it back.
    await until('Undo takes a key', async () => {
      await page.clock.runFor(50);
      return isOn(detail.getByRole('button', { name: 'Undo' }));
    });
    await page.keyboard.press('u');
    await until('Allow takes a key again', async () => {
      await page.clock.runFor(50);
      return isOn(allow);
    });
    expect(await page.evaluate(`sent.filter((text) => text.includes('request.answer'))`)).toEqual([]);
    expect(await statuses()).toEqual(['pending']);
    await page.keyboard.press('a');
    await page.clock.runFor(4_500);
    await eventually(statuses).toEqual(['approved']);
    // The command reads as it runs: no ligature draws several characters as one.
    const style = `getComputedStyle(document.querySelector('.queue-detail pre'))`;
    expect(await page.evaluate(`${style}.fontVariantLigatures`)).toBe('none');
    // The answer names what was shown.
    const sent = await page.evaluate<string[]>(`sent.filter((text) => text.includes('request.answer'))`);
    const [asked] = await client.call('request.list', { teamId: LONG });
    expect(sent[0]).toContain(`"revision":"${asked?.revision}"`);
    expectQuiet(watched);
  });

  test('on a plan reaches its member, and the task shows its whole history afterwards', async (context) => {
    needTool(context, 'chromium');
    const team = 'plans';
    const { client } = stage();
    const log = join(temporaryFolder(), 'log');
    await client.call('team.create', { name: team });
    await client.call('task.create', { teamId: team, title: 'Move the parser' });
    const watched = await open(`/t/${team}`);
    const { page } = watched;
    await page.getByRole('button', { name: 'Spawn a teammate' }).click();
    const form = page.getByRole('dialog', { name: 'Spawn a teammate' });
    await form.getByLabel('Name').fill('ann');
    await form.getByLabel('Run by').selectOption({ label: 'a program…' });
    await form.getByLabel('Command').fill(`/usr/bin/env WORK_LOG=${log} "${join(AGENTS, 'plans.js')}"`);
    await form.getByLabel(/plan must be approved/).check();
    await form.getByRole('button', { name: 'Spawn' }).click();

    const waits = page.getByRole('article', { name: 'Plan of ann' });
    await waits.getByText('I will do Move the parser').waitFor();
    await waits.getByRole('button', { name: 'Reject…' }).click();
    await waits.getByRole('textbox').fill('Tests first');
    await waits.getByRole('button', { name: 'Reject', exact: true }).click();
    await waits.getByText('Rejected: Tests first').waitFor();
    await waits.getByText('I will do Move the parser: Tests first').waitFor();
    await waits.getByRole('button', { name: 'Next' }).click();
    await waits.getByRole('button', { name: 'Approve' }).click();
    await eventually(() => page.locator('.team-count').innerText()).toBe('1 of 1');

    await page.goto(`${new URL(page.url()).origin}/t/${team}/task/1?view=list`);
    const sheet = page.getByRole('dialog', { name: /Task 1/ });
    await eventually(async () =>
      (await sheet.locator('.events .text').allInnerTexts()).filter((line) => line.includes('plan')),
    ).toEqual([
      'You approved the plan of ann',
      'ann submitted a plan',
      'You sent back the plan of ann: Tests first',
      'ann submitted a plan',
    ]);
    // Each line leads to its moment, here to the first plan while it waited for an answer.
    await sheet
      .getByRole('button', { name: /submitted a plan/ })
      .last()
      .click();
    await page.locator('.live-back').waitFor();
    await sheet.getByRole('article', { name: 'Plan of ann' }).getByText('I will do Move the parser').waitFor();
    expect(await sheet.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
    await client.call('team.down', { teamId: team, force: true });
    expectQuiet(watched);
  });
});

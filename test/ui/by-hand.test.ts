import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, follow, pressInRow, useBrowser, usePage } from './browser.ts';
import { useStage } from './stage.ts';

const browser = useBrowser();
const stage = useStage();
const open = usePage(browser, stage);

const AGENTS = join(import.meta.dirname, '../fixtures/agents');

/** The most presses of Tab that any control may need. */
const FURTHEST = 60;

/** Presses Tab until the named control has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const isThere = `(() => {
    const one = document.activeElement;
    return [one?.getAttribute('aria-label'), one?.innerText?.trim()].includes(${JSON.stringify(name)});
  })()`;
  for (let i = 0; i < FURTHEST; i++) {
    if (await page.evaluate(isThere)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`No Tab leads to ${name}`);
}

/** Runs in the page: whether the focus is inside of a dialog or menu. */
const isFocusIn = (role: 'dialog' | 'menu'): string => `document.activeElement?.closest('[role=${role}]') != null`;

describe('without a mouse', () => {
  test('a member can be found, messaged, stopped, restarted and asked to shut down', async (context) => {
    needTool(context, 'chromium');
    const team = 'keys';
    const { client } = stage();
    const go = join(temporaryFolder(), 'go');
    await client.call('team.create', { name: team });
    await client.call('task.create', { teamId: team, title: 'Count the files' });
    const command = ['/usr/bin/env', `WORK_UNTIL=${go}`, join(AGENTS, 'slow.js')];
    await client.call('member.spawn', { teamId: team, name: 'worker', agent: { kind: 'exec', command } });
    const watched = await open(`/t/${team}`);
    const { page } = watched;
    const state = page.locator('.member-head .status');
    await page.locator('.node.is-in_progress').waitFor();

    await page.keyboard.press('Control+k');
    await page.keyboard.type('member worker');
    await page.keyboard.press('Enter');
    await state.getByText('Working').waitFor();
    await page.keyboard.press('w');
    await page.keyboard.type('How far are you?');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await page.keyboard.press('2');
    await page.locator('.message').getByText('How far are you?').waitFor();

    await tabTo(page, 'Stop');
    await page.keyboard.press('Enter');
    const sure = page.getByRole('dialog', { name: 'Stop worker now?' });
    await sure.waitFor();
    // After Escape the focus is back where it was.
    await page.keyboard.press('Escape');
    await sure.waitFor({ state: 'detached' });
    await eventually(() => page.evaluate('document.activeElement?.innerText?.trim()')).toBe('Stop');
    await page.keyboard.press('Enter');
    await sure.waitFor();
    // The focus moves into the dialog a moment after it opens. Behind it is another button of this name.
    await eventually(() => page.evaluate(isFocusIn('dialog'))).toBe(true);
    await tabTo(page, 'Stop');
    await page.keyboard.press('Enter');
    await state.getByText('Stopped').waitFor();
    expect((await client.call('task.show', { teamId: team, taskId: '1' })).status).toBe('pending');

    await tabTo(page, 'Restart');
    await page.keyboard.press('Enter');
    await state.getByText('Working').waitFor();

    writeFileSync(go, '');
    await state.getByText('Idle').waitFor();
    await tabTo(page, 'Actions for worker');
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Ask to shut down' }).waitFor();
    await eventually(() => page.evaluate(isFocusIn('menu'))).toBe(true);
    // One letter: the menu takes letters for one word only if they come within a second.
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await state.getByText('Stopped').waitFor();
    await client.call('team.down', { teamId: team, force: true });
    expectQuiet(watched);
  });
});

test('a person who leads is shown as a person, and a team without a lead shows none', async (context) => {
  needTool(context, 'chromium');
  const { client } = stage();
  const folder = temporaryFolder();
  for (const [name, lead] of [
    ['ours', 'person'],
    ['free', 'none'],
  ] as const) {
    const source = `team: ${name}\nlead: ${lead}\nmembers:\n  - { name: ann, agent: { exec: ${join(AGENTS, 'quick.js')} } }\ntasks:\n  - title: One\n`;
    await client.call('team.up', { yes: true, source, name: 'troupe.yaml', folder });
  }
  const watched = await open('/t/ours');
  const { page } = watched;
  const members = page.getByRole('region', { name: 'Members' });
  await eventually(() => page.locator('.team-count').innerText()).toBe('1 of 1');
  const lead = members.locator('.member', { hasText: 'Team Lead' });
  await lead.locator('.status').getByText('Person').waitFor();
  expect(await lead.locator('.member-task').innerText()).toBe('leads by hand');
  await client.call('message.send', { teamId: 'ours', toId: 'lead', content: 'Done?' }, { as: 'ann' });
  await eventually(() => lead.locator('.member-task').innerText()).toBe('leads by hand · 1 message not read');
  await lead.getByRole('link', { name: 'lead' }).click();
  await page.locator('.message').getByText('Done?').waitFor();
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await page.locator('.message').getByText('read', { exact: true }).waitFor();
  await eventually(() => page.locator('.member-doing').innerText()).toBe('leads by hand');
  await page.getByRole('tab', { name: 'Transcript' }).click();
  await page.getByText('No agent works for lead').waitFor();
  await pressInRow(page, 'g', 'n');
  const times = page.getByRole('region', { name: 'Working and waiting' });
  await times.getByText('ann').waitFor();
  expect(await times.getByText('lead').count()).toBe(0);

  await follow(page, '/t/free');
  await page.getByRole('heading', { name: 'free', exact: true }).waitFor();
  await eventually(() => page.locator('.team-count').innerText()).toBe('1 of 1');
  expect(await members.locator('.member-name').allInnerTexts()).toEqual(['ann']);
  await page.locator('.team-age').getByText('1 teammate').waitFor();
  await follow(page, '/t/free/m/lead');
  await page.getByRole('heading', { name: 'Nobody leads free' }).waitFor();
  await page.getByRole('link', { name: 'Back to the team' }).click();
  await members.getByRole('link', { name: 'ann' }).waitFor();
  for (const teamId of ['ours', 'free']) await client.call('team.down', { teamId, force: true });
  expectQuiet(watched);
});

test('an unknown address says so and offers a way on', async (context) => {
  needTool(context, 'chromium');
  const team = 'nowhere';
  const { client } = stage();
  await client.call('team.create', { name: team });
  const watched = await open();
  const { page } = watched;
  const at = new URL(page.url()).origin;
  await page.goto(`${at}/what/is/this`);
  await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor();
  await eventually(() => page.title()).toBe('Nothing here · Troupe');
  await page.getByRole('main').getByRole('link', { name: 'All teams' }).click();
  await page.getByRole('link', { name: team, exact: true }).waitFor();
  await page.goto(`${at}/t/${team}/%zz`);
  await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'All teams' }).waitFor();
  for (const [path, says, way] of [
    ['/t/nobody', 'Team nobody cannot be shown', 'All teams'],
    [`/t/${team}/m/nobody`, `${team} has no member “nobody”`, 'Back to the team'],
    ['/native/nobody', 'Claude Code has no team “nobody”', 'All teams'],
    [`/t/${team}/task/99`, 'There is no such task', undefined],
  ] as const) {
    // The daemon serves a page at this address.
    expect({ path, status: (await page.request.get(at + path)).status() }).toEqual({ path, status: 200 });
    await follow(page, path);
    await page.getByRole('heading', { name: says }).waitFor();
    if (way !== undefined) await page.getByRole('main').getByRole('link', { name: way }).waitFor();
  }
  await page.keyboard.press('Escape');
  await page.getByText('No task yet').waitFor();
  // Logged in, one gets from `/login` to the teams.
  expect((await page.request.get(`${at}/login`)).status()).toBe(200);
  await follow(page, '/login');
  await page.getByRole('link', { name: team, exact: true }).waitFor();
  // The daemon answers 404 at the two invalid addresses, and the browser writes that to its console.
  const absent = ['/what/is/this', `/t/${team}/%zz`].map((path) => expect.stringMatching(`404.*${at}${path}$`));
  expect(watched.complaints).toEqual(absent);
});

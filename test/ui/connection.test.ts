import { describe, expect, test } from 'vitest';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, openPage, useBrowser } from './browser.ts';
import { openProxy } from './proxy.ts';
import { setStage, startStage, useDashboard } from './stage.ts';
import { writeStory } from './story.ts';

useDashboard();
const browser = useBrowser();

const TEAM = 'journal-v2';

describe('a page that somebody leaves open', { timeout: 240_000 }, () => {
  test('says when the connection is lost, stays readable, and catches up without a reload', async (context) => {
    needTool(context, 'chromium');
    const { client } = await setStage(writeStory);
    const proxy = await openProxy();
    const watched = await openPage(browser(), client, `/t/${TEAM}?view=list`, {
      proxy: { server: proxy.server, bypass: '<-loopback>' },
    });
    const { page } = watched;
    await page.locator('.list-row').nth(3).waitFor();
    await page.evaluate('globalThis.samePage = true');
    const live = page.locator('.time-line .live');
    await eventually(() => live.innerText()).toBe('Live');
    proxy.cut();
    await page.getByText('Reconnecting to the daemon').waitFor();
    expect(await live.innerText()).toBe('Not live');
    expect(await page.getByRole('button', { name: 'Task', exact: true }).isDisabled()).toBe(true);
    expect(await page.locator('.list-row').count()).toBeGreaterThan(10);
    for (let i = 0; i < 30; i++) await client.call('task.create', { teamId: TEAM, title: `While away ${i}` });
    proxy.mend();
    await eventually(() => page.locator('.team-count').innerText()).toBe('9 of 54');
    await page.getByText('Reconnecting to the daemon').waitFor({ state: 'detached' });
    await eventually(() => live.innerText()).toBe('Live');
    expect(await page.evaluate('globalThis.samePage')).toBe(true);
    expectQuiet(watched);
  });

  test('outlives the daemon: killed and back, it goes on, still logged in', async (context) => {
    needTool(context, 'chromium');
    const { home, daemon, client } = await setStage(writeStory);
    const watched = await openPage(browser(), client, `/t/${TEAM}?view=board`);
    const { page } = watched;
    await page.locator('.column').first().waitFor();
    await page.evaluate('globalThis.samePage = true');
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    await page.getByText('Reconnecting to the daemon').waitFor();
    await startStage(home);
    await client.call('task.create', { teamId: TEAM, title: 'After the crash' });
    await page.locator('.card').getByText('After the crash').waitFor();
    // And it can act again.
    await eventually(() => page.getByRole('button', { name: 'Task', exact: true }).isEnabled()).toBe(true);
    await page.getByRole('link', { name: /After the crash/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Complete' }).click();
    await eventually(async () => (await client.call('task.show', { teamId: TEAM, taskId: '25' })).status).toBe(
      'completed',
    );
    expect(await page.evaluate('globalThis.samePage')).toBe(true);
    expectQuiet(watched);
  });

  test('that nobody is logged in to shows the way in, and a pasted address opens it', async (context) => {
    needTool(context, 'chromium');
    const { daemon, client } = await setStage(writeStory);
    const tab = await browser().newContext();
    const page = await tab.newPage();
    await page.goto(`${daemon.url}/t/${TEAM}`);
    await page.getByRole('heading', { name: 'Log in to Troupe' }).waitFor();
    const paste = page.getByLabel('Or paste the address that it prints');
    await paste.fill('http://127.0.0.1/#code=not-a-code-of-this-daemon-at-all');
    await page.keyboard.press('Enter');
    await page.getByText('This code was used before').waitFor();
    await paste.fill((await client.call('ui.login', {})).url);
    await page.keyboard.press('Enter');
    await page.locator('.team-count').waitFor();
    // Logged out, it is closed again.
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in to Troupe' }).waitFor();
    await tab.close();
  });
});

import { describe, expect, onTestFinished, test } from 'vitest';
import { pauseProcess } from '../daemon/processes.ts';
import { needTool } from '../tools.ts';
import { HANG_MS } from '../until.ts';
import { eventually, expectQuiet, follow, openPage, showsAge, useBrowser } from './browser.ts';
import { openProxy } from './proxy.ts';
import { setStage, startStage, useStage } from './stage.ts';
import { writeStories, writeStory } from './story.ts';

const browser = useBrowser();
/** When the stories of this file end. */
const END = Date.now();
const TEAM = 'journal-v2';
/** For tests that leave the daemon running. Tasks that one test adds do not disturb the others. */
const stage = useStage((home) => writeStories(home, ['missed', TEAM], END));

/** Tasks created while a page is cut off, and bytes that pass before the proxy holds: less than the whole backlog. */
const MISSED = 120;
const THROUGH_BYTES = 20_000;

/** Runs in the page: records each text that the two status pills show. */
const NOTE_PILLS = `globalThis.pills = { head: [], line: [] };
const note = (list, text) => text && list.at(-1) !== text && list.push(text);
new MutationObserver(() => {
  note(pills.head, document.querySelector('.team-head [role=status]')?.innerText);
  note(pills.line, document.querySelector('.time-line .live')?.innerText);
}).observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true });`;

/** Runs in the page: its heartbeat takes 1 s instead of 5 s. */
const QUICK_PULSE = `for (const name of ['setTimeout', 'setInterval']) {
  const begin = globalThis[name];
  globalThis[name] = (work, ms, ...more) => begin(work, ms === 5000 ? 1000 : ms, ...more);
}
const limit = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = (ms) => limit(ms === 5000 ? 1000 : ms);`;

/** Runs in the page: its clock is two hours ahead of the daemon's. */
const WRONG_CLOCK = '; { const now = Date.now; Date.now = () => now() + 7_200_000; }';

describe('a page that stays open', () => {
  test('draws its graph although the layout worker could not be loaded at first; says when the connection is lost, stays readable, and catches up without a reload', async (context) => {
    needTool(context, 'chromium');
    const team = 'missed';
    const { client } = stage();
    const proxy = await openProxy();
    proxy.lose(/\/layout-worker-[^/]*\.js$/, 2);
    const watched = await openPage(browser(), client, `/t/${team}?view=graph`, {
      proxy: { server: proxy.server, bypass: '<-loopback>' },
    });
    const { page } = watched;
    await page.locator('.react-flow__node').first().waitFor();
    expect(proxy.lost).toBe(1);
    await follow(page, `/t/${team}?view=list`);
    await page.locator('.list-row').nth(3).waitFor();
    await page.evaluate('globalThis.samePage = true');
    const live = page.locator('.time-line .live');
    await eventually(() => live.innerText()).toBe('Live');
    proxy.cut();
    await page.getByText('Reconnecting to the daemon').waitFor();
    expect(await live.innerText()).toBe('Not live');
    expect(await page.getByRole('button', { name: 'New task' }).isDisabled()).toBe(true);
    expect(await page.locator('.list-row').count()).toBeGreaterThan(10);
    const seqOf = async (): Promise<number> =>
      (await client.call('team.list', {})).find(({ name }) => name === team)?.seq ?? 0;
    const before = await seqOf();
    for (let i = 0; i < MISSED; i++) await client.call('task.create', { teamId: team, title: `While away ${i}` });
    await page.evaluate(NOTE_PILLS);
    // After the reconnect, the proxy holds the rest until the page has shown its progress.
    proxy.hold(THROUGH_BYTES);
    proxy.mend();
    await page
      .locator('.team-head')
      .getByText(/^Catching up [\d,]+ of [\d,]+$/)
      .waitFor();
    await eventually(() => live.innerText()).toBe('Catching up');
    proxy.release();
    await eventually(() => page.locator('.team-count').innerText()).toBe(`9 of ${24 + MISSED}`);
    await page.getByText('Reconnecting to the daemon').waitFor({ state: 'detached' });
    await eventually(() => live.innerText()).toBe('Live');
    await page.locator('.team-head').getByText('Catching up').waitFor({ state: 'detached' });
    const { head, line } = (await page.evaluate('globalThis.pills')) as Record<'head' | 'line', string[]>;
    expect(line).toEqual(expect.arrayContaining(['Catching up', 'Live']));
    const after = await seqOf();
    const counted = head.flatMap((text) => /^Catching up (\d+) of (\d+)$/.exec(text)?.slice(1).map(Number) ?? []);
    expect(counted.length).toBeGreaterThan(1);
    expect(counted[0]).toBeGreaterThanOrEqual(before);
    expect(counted[1]).toBe(after);
    // No event is missing, and none came twice.
    expect(Number(await page.getByRole('slider', { name: 'Moment' }).inputValue())).toBe(after);
    await page.getByLabel('Filter tasks').fill(`While away ${MISSED - 1}`);
    await eventually(() => page.locator('.list-body .list-row').count()).toBe(1);
    expect(await page.evaluate('globalThis.samePage')).toBe(true);
    expectQuiet(watched);
  });

  test('survives a kill of the daemon: it goes on, still logged in, and does not send what was cancelled meanwhile', async (context) => {
    needTool(context, 'chromium');
    const { home, daemon, client } = await setStage(writeStory);
    const watched = await openPage(browser(), client, `/t/${TEAM}?view=board`);
    const { page } = watched;
    await page.locator('.column').first().waitFor();
    await page.evaluate('globalThis.samePage = true');
    await page.keyboard.press('n');
    const form = page.getByRole('dialog', { name: 'New task' });
    await form.getByLabel('Title').fill('Never');
    // The paused daemon hears nothing any more, but the page does not know that yet.
    await pauseProcess(daemon.pid);
    await form.getByRole('button', { name: 'Create' }).click();
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    await page.getByText('Reconnecting to the daemon').waitFor();
    await form.getByText('Waiting for the daemon, which is unreachable').waitFor();
    await form.getByRole('button', { name: 'Cancel' }).click();
    await form.waitFor({ state: 'detached' });
    // Nothing new can be started either.
    await page.getByRole('button', { name: 'Log out' }).click();
    const leave = page.getByRole('dialog', { name: 'Log out?' });
    await leave.getByText('The daemon is unreachable').waitFor();
    expect(await leave.getByRole('button', { name: 'Log out' }).isDisabled()).toBe(true);
    // The page finds the daemon only at its old address. This fails if another program took the port meanwhile.
    expect((await startStage(home)).url).toBe(daemon.url);
    await eventually(() => leave.getByRole('button', { name: 'Log out' }).isEnabled()).toBe(true);
    await client.call('task.create', { teamId: TEAM, title: 'After the crash' });
    await leave.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.card').getByText('After the crash').waitFor();
    expect((await client.call('task.list', { teamId: TEAM })).map(({ title }) => title)).not.toContain('Never');
    // Actions work again.
    await eventually(() => page.getByRole('button', { name: 'New task' }).isEnabled()).toBe(true);
    await page.getByRole('link', { name: /After the crash/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Complete' }).click();
    await eventually(async () => (await client.call('task.show', { teamId: TEAM, taskId: '25' })).status).toBe(
      'completed',
    );
    expect(await page.evaluate('globalThis.samePage')).toBe(true);
    expectQuiet(watched);
  });

  test('keeps text typed while a message is being sent, and puts back a message that was not sent', async (context) => {
    needTool(context, 'chromium');
    const { daemon, client } = stage();
    const watched = await openPage(browser(), client, `/t/${TEAM}/m/ada?tab=inbox`);
    const { page } = watched;
    const box = page.getByLabel('Write to ada');
    const urgent = page.getByRole('button', { name: 'Urgent' });
    const mail = async () => (await client.call('message.inbox', { teamId: TEAM, memberId: 'ada' })).slice(-2);
    await box.fill('First');
    onTestFinished(() => void process.kill(daemon.pid, 'SIGCONT'));
    await pauseProcess(daemon.pid);
    await box.press('Enter');
    await box.press('Enter');
    await urgent.click();
    await box.fill('Second');
    await box.press('Enter');
    process.kill(daemon.pid, 'SIGCONT');
    await page.locator('.message').getByText('First', { exact: true }).waitFor();
    await eventually(() => page.getByRole('button', { name: 'Send', exact: true }).isEnabled()).toBe(true);
    expect([await box.inputValue(), await urgent.getAttribute('aria-pressed')]).toEqual(['Second', 'true']);
    expect(await mail()).not.toMatchObject([{ content: 'First' }, { content: 'First' }]);
    await box.press('Enter');
    await page.locator('.message', { hasText: 'Second' }).getByText('urgent').waitFor();
    expect(await mail()).toMatchObject([{ content: 'First' }, { content: 'Second' }]);
    const long = 'x'.repeat(300_000);
    await box.fill(long);
    await box.press('Enter');
    await page.locator('.write').getByRole('alert').waitFor();
    expect(await box.inputValue()).toBe(long);
    expectQuiet(watched);
  });

  test('works although some of its modules could not be loaded, and loads them when they are needed', async (context) => {
    needTool(context, 'chromium');
    const { client } = stage();
    const proxy = await openProxy();
    // As when the daemon is killed before the page has loaded everything: a browser does not request a module twice.
    proxy.lose(/\/(commands|graph|numbers-page|layout-worker)-[^/]*\.js$/);
    const watched = await openPage(browser(), client, `/t/${TEAM}?view=board`, {
      proxy: { server: proxy.server, bypass: '<-loopback>' },
    });
    const { page } = watched;
    await eventually(() => proxy.lost).toBe(4);
    await page.locator('.column').first().waitFor();
    await page.evaluate('globalThis.samePage = true');
    await page.keyboard.press('Control+k');
    const failure = page.getByRole('dialog').getByText('A part of this page could not be loaded');
    await failure.waitFor();
    await page.keyboard.press('Escape');
    await failure.waitFor({ state: 'detached' });
    await client.call('task.create', { teamId: TEAM, title: 'Without the palette' });
    await page.locator('.card').getByText('Without the palette').waitFor();
    expect(await page.evaluate('globalThis.samePage')).toBe(true);
    // A module that a page cannot do without makes the page reload, once.
    await page.getByRole('link', { name: 'Numbers' }).click();
    await page.getByRole('alert').getByText('A part of this page could not be loaded').waitFor();
    expect(await page.evaluate('globalThis.samePage')).toBe(undefined);
    proxy.mend();
    await page.getByRole('button', { name: 'Load the page again' }).click();
    await page.getByRole('heading', { name: 'Numbers', exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Create a task' }).waitFor();
    expectQuiet(watched);
  });

  test('detects by itself that its connection is dead though nobody closed it, as after a sleep; uses the clock of the daemon if its own differs', async (context) => {
    needTool(context, 'chromium');
    const { client } = stage();
    const proxy = await openProxy();
    const watched = await openPage(browser(), client, `/t/${TEAM}?view=list`, {
      proxy: { server: proxy.server, bypass: '<-loopback>' },
      script: QUICK_PULSE + WRONG_CLOCK,
    });
    const { page } = watched;
    await page.locator('.list-row').nth(3).waitFor();
    const doing = page.locator('.side .member', { hasText: 'cleo' }).locator('.member-task');
    await eventually(() => showsAge(doing, 'without a task for', END - 13 * 60_000)).toBe(true);
    await page.evaluate('globalThis.samePage = true');
    proxy.freeze();
    await client.call('task.create', { teamId: TEAM, title: 'While it slept' });
    await page.locator('.list-row').getByText('While it slept').waitFor();
    // Nor does it wait forever for a new connection that nobody answers.
    proxy.stall();
    proxy.freeze();
    await eventually(() => proxy.stalled).toBeGreaterThan(0);
    proxy.mend();
    await client.call('task.create', { teamId: TEAM, title: 'While nobody answered' });
    await page.locator('.list-row').getByText('While nobody answered').waitFor();
    expect(await page.evaluate('globalThis.samePage')).toBe(true);
    expectQuiet(watched);
  });

  test('without a login shows how to log in and takes a pasted address; after a used link it says so, and sends no request until somebody returns to it', async (context) => {
    needTool(context, 'chromium');
    const { daemon, client } = stage();
    const openTab = async () => {
      const tab = await browser().newContext();
      tab.setDefaultTimeout(HANG_MS);
      onTestFinished(() => tab.close());
      return tab;
    };
    const first = await (await openTab()).newPage();
    await first.goto(`${daemon.url}/t/${TEAM}`);
    await first.getByRole('heading', { name: 'Log in to Troupe' }).waitFor();
    const paste = first.getByLabel('Or paste the address that it prints');
    await paste.fill('http://127.0.0.1/#code=not-a-code-of-this-daemon-at-all');
    await first.keyboard.press('Enter');
    await first.getByText('This code was used before').waitFor();
    const { url } = await client.call('ui.login', {});
    await paste.fill(url);
    await first.keyboard.press('Enter');
    await first.locator('.team-count').waitFor();
    // After a logout the page shows the login again.
    await first.getByRole('button', { name: 'Log out' }).click();
    await first.getByRole('dialog').getByRole('button', { name: 'Log out' }).click();
    await first.getByRole('heading', { name: 'Log in to Troupe' }).waitFor();

    const tab = await openTab();
    const page = await tab.newPage();
    const asked: string[] = [];
    // The page may still load its own assets.
    page.on('request', (request) => !request.url().includes('/assets/') && asked.push(request.url()));
    page.on('websocket', (socket) => asked.push(socket.url()));
    await page.clock.install();
    await page.goto(url.replace('/#', `/t/${TEAM}#`));
    await page.getByText('This link was used before or is older than a minute').waitFor();
    await page.getByText(`troupe ui --team ${TEAM}`, { exact: true }).waitFor();
    const before = asked.length;
    await page.clock.runFor(10 * 60_000);
    expect(asked.slice(before)).toEqual([]);
    // A new link opens it. So does a login in another tab, once this one gets the focus again.
    const other = await tab.newPage();
    await other.goto((await client.call('ui.login', {})).url);
    await other.locator('.teams').first().waitFor();
    await page.evaluate('dispatchEvent(new Event("focus"))');
    await page.locator('.team-count').waitFor();
  });
});

import { describe, expect, test } from 'vitest';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, follow, openPage, useBrowser, usePage } from './browser.ts';
import { useStage } from './stage.ts';
import { writeStories } from './story.ts';

const browser = useBrowser();
/** When the stories of this file end. */
const END = Date.now();
const stage = useStage((home) => writeStories(home, ['begun', 'long', 'about', 'touch'], END));
const open = usePage(browser, stage);

const PHONE = { viewport: { width: 390, height: 844 } };

describe('in everyday use', () => {
  test('a draft to a member survives a look at other pages and a reload, until it is sent', async (context) => {
    needTool(context, 'chromium');
    const team = 'begun';
    const watched = await open(`/t/${team}/m/ada`);
    const { page } = watched;
    const box = (name: string) => page.getByLabel(`Write to ${name}`, { exact: true });
    await box('ada').fill('Before you go on:');
    await follow(page, `/t/${team}/m/bo`);
    expect(await box('bo').inputValue()).toBe('');
    await page.goBack();
    await eventually(() => box('ada').inputValue()).toBe('Before you go on:');
    await page.reload();
    await eventually(() => box('ada').inputValue()).toBe('Before you go on:');
    await box('ada').press('Enter');
    await eventually(() => page.evaluate(`sessionStorage.getItem('draft ${team}/ada')`)).toBe(null);
    await page.reload();
    expect(await box('ada').inputValue()).toBe('');
    expectQuiet(watched);
  });

  test('a closed team is not live, and a used-up budget is marked', async (context) => {
    needTool(context, 'chromium');
    const { client } = stage();
    const teamId = 'spent';
    await client.call('team.create', { name: teamId, budget: { costUsd: 10 } });
    await client.call('member.add', { teamId, name: 'ann', budget: { costUsd: 5 } });
    const usage = { inputTokens: 1, outputTokens: 1, turns: 1, costUsd: 1_234_567.89 };
    await client.call('usage.record', { teamId, memberId: 'ann', usage });
    const watched = await open(`/t/${teamId}`);
    const { page } = watched;
    await page
      .locator('.team-head')
      .getByText(/^Over budget/)
      .waitFor();
    const live = page.locator('.time-line .live');
    await eventually(() => live.innerText()).toBe('Live');
    await client.call('team.close', { teamId, force: true });
    await eventually(() => live.innerText()).toBe('Closed');
    await page.keyboard.press('[');
    await page.getByRole('button', { name: /^To the end/ }).click();
    await follow(page, `/t/${teamId}/m/ann`);
    const cost = page.locator('.big-figures b').nth(1);
    expect(await cost.innerText()).toBe('$1.2M');
    expect(await cost.getAttribute('title')).toBe('$1,234,567.89');
    await page
      .locator('.member-facts')
      .getByText(/^Over budget/)
      .waitFor();
    expectQuiet(watched);
  });

  test('a person who leads writes to all others, but not to themselves', async (context) => {
    needTool(context, 'chromium');
    const { client } = stage();
    const teamId = 'crew';
    await client.call('team.create', { name: teamId });
    await client.call('member.add', { teamId, name: 'ann' });
    const watched = await open(`/t/${teamId}`);
    const { page } = watched;
    await page.getByRole('button', { name: 'Team actions' }).click();
    await page.getByRole('menuitem', { name: 'Write to all…' }).click();
    await page.getByLabel('Message').fill('We begin.');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Sent to 1 member', { exact: true }).waitFor();
    const inbox = (memberId: string) => client.call('message.inbox', { teamId, memberId });
    expect((await inbox('ann')).map(({ content, fromId }) => `${fromId}: ${content}`)).toEqual(['lead: We begin.']);
    expect(await inbox('lead')).toEqual([]);
    expectQuiet(watched);
  });

  test('a long title is cut before its holder and time are; keys switch tabs and close the events', async (context) => {
    needTool(context, 'chromium');
    const team = 'long';
    const { client } = stage();
    const { id } = await client.call('task.create', { teamId: team, title: 'A title that does not end '.repeat(8) });
    await client.call('task.claim', { teamId: team, taskId: id }, { as: 'cleo' });
    const watched = await open(`/t/${team}/m/cleo`);
    const { page } = watched;
    await page.locator('.member-doing').getByText('A title').waitFor();
    const cut = (selector: string) =>
      page.locator(selector).evaluateAll((all) => {
        const boxes = all as unknown as { scrollWidth: number; clientWidth: number }[];
        return boxes.map((one) => one.scrollWidth > one.clientWidth);
      });
    expect(await cut('.member-head h1, .member-doing, .member-doing .one-line')).toEqual([false, false, true]);
    await page.getByRole('tab', { name: 'Transcript' }).focus();
    await page.keyboard.press('ArrowRight');
    await eventually(() => page.getByRole('tab', { name: /^Inbox/ }).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('End');
    await eventually(() => page.getByRole('tab', { name: 'Usage' }).getAttribute('aria-selected')).toBe('true');
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await cut('.member-head h1')).toEqual([false]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await follow(page, `/t/${team}?view=list`);
    await page.locator('.list-row').first().waitFor();
    await page.locator('.time-line [aria-expanded]').click();
    await page.locator('.event-list').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.event-list').waitFor({ state: 'detached' });
    expect(await cut('.side .member:has(.doing > .one-line) .member-task')).not.toContain(true);
    // A closed team takes no new task.
    await client.call('team.down', { teamId: team, force: true });
    await page.locator('.list-row').first().waitFor();
    await eventually(() => page.getByRole('button', { name: 'New task' }).isDisabled()).toBe(true);
    await page.keyboard.press('n');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expectQuiet(watched);
  });

  test('a phone shows what a member waits for and the facts about it, and has a logout', async (context) => {
    needTool(context, 'chromium');
    const team = 'about';
    const { client } = stage();
    const watched = await openPage(browser(), client, `/t/${team}/m/ada`, PHONE);
    const { page } = watched;
    await page.getByRole('tab', { name: /^About/ }).click();
    await page.getByRole('button', { name: 'Accept' }).waitFor();
    // It joined in the first minute of 74.
    const facts = page.locator('.member-facts');
    await eventually(async () => {
      const minutes = Math.floor((Date.now() - END) / 60_000) + 13;
      const text = await facts.innerText();
      return [minutes, minutes + 1].some((over) => text.includes(`1 h ${over} m ago`));
    }).toBe(true);
    expectQuiet(watched);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Log out of this browser' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in to Troupe' }).waitFor();
  });

  test('on a touch screen, everything to press is large enough, and names of tools are not cut', async (context) => {
    needTool(context, 'chromium');
    const team = 'touch';
    const { client } = stage();
    const watched = await openPage(browser(), client, `/t/${team}?view=graph`, {
      ...PHONE,
      hasTouch: true,
      isMobile: true,
    });
    const { page } = watched;
    /** The smallest height among the visible elements that match, in pixels. */
    const least = async (selector: string): Promise<number> => {
      await page.locator(selector).first().waitFor();
      const boxes = await page
        .locator(selector)
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
      return Math.min(...boxes.filter((height) => height > 0));
    };
    expect(await least('.zoom button')).toBeGreaterThanOrEqual(44);
    await follow(page, `/t/${team}?view=board`);
    expect(await least('.card-menu')).toBeGreaterThanOrEqual(44);
    const cut = (selector: string): Promise<number> =>
      page.locator(selector).evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
    expect(await cut('.card-foot > .one-line')).toBe(0);
    await follow(page, `/t/${team}/task/13`);
    expect(await least('.sheet .task-line, .sheet .events button')).toBeGreaterThanOrEqual(44);
    await follow(page, `/t/${team}/m/ada`);
    expect(await least('.tool-body summary')).toBeGreaterThanOrEqual(44);
    expect(await cut('.tool-body summary b')).toBe(0);
    expectQuiet(watched);
  });
});

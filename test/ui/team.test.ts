import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { needTool } from '../tools.ts';
import { until } from '../until.ts';
import { eventually, expectQuiet, follow, openPage, showsAge, useBrowser, usePage } from './browser.ts';
import type { Look } from './browser.ts';
import { setStage, useStage } from './stage.ts';
import { writeStories, writeStory } from './story.ts';

const browser = useBrowser();
/** When the stories of this file end. */
const END = Date.now();
const stage = useStage((home) =>
  writeStories(home, ['views', 'moments', 'events', 'phone', 'keys', 'edges', 'words', 'task'], END),
);
const open = usePage(browser, stage);

/** Runs in the page: a step of the played history takes 0.3 s instead of 0.06 s. */
const SLOW_PLAY = `{
  const begin = globalThis.setInterval;
  globalThis.setInterval = (work, ms, ...more) => begin(work, ms === 60 ? 300 : ms, ...more);
}`;

/** Opens the page of one of this file's teams. */
async function openStory(team: string, path = '', look: Look = {}) {
  const watched = await open(`/t/${team}${path}`, look);
  // Until the team is read, the page shows a toolbar without any controls, and takes no keys.
  await watched.page.locator('main.team .team-count').waitFor();
  return { ...stage(), ...watched, watched };
}

async function texts(page: Page, selector: string): Promise<string[]> {
  return (await page.locator(selector).allInnerTexts()).map((text) => text.trim());
}

describe('the page of a team', () => {
  test('shows tasks as a graph, a board and a list; keys switch between them, and a filter finds tasks by text', async (context) => {
    needTool(context, 'chromium');
    const team = 'views';
    const { page, watched } = await openStory(team);
    await page.locator('.graph[data-nodes="24"]').waitFor();
    expect(await page.locator('.graph').getAttribute('data-edges')).toBe('26');
    await page.keyboard.press('2');
    await page.locator('.board').waitFor();
    expect(
      await page.locator('.column').evaluateAll((columns) => columns.map((one) => one.getAttribute('aria-label'))),
    ).toEqual(['Pending, 2', 'Blocked, 8', 'In progress, 3', 'At the gate, 1', 'Failed, 1', 'Completed, 9']);
    await page.keyboard.press('3');
    await page.locator('.list').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('journal');
    await page.locator('.list-body .list-row').nth(1).waitFor();
    await expect
      .poll(() => texts(page, '.list-body .list-title'))
      .toEqual([
        'Scrub the time line from the journal',
        'Two daemons on one journal',
        'Read the journal format and write the schema',
      ]);
    expect(page.url()).toContain('q=journal');
    await page.keyboard.type(' xyz');
    await page.getByText('No task matches the filter').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.locator('.toolbar').getByRole('button', { name: 'Member', exact: true }).click();
    await page.getByRole('menuitem', { name: 'cleo' }).click();
    await eventually(() => page.locator('.list-body .list-row').count()).toBe(2);
    expectQuiet(watched);
  });

  test('follows events live, and shows any earlier moment, also from a link', async (context) => {
    needTool(context, 'chromium');
    const team = 'moments';
    const { page, client, watched } = await openStory(team, '?view=list');
    const done = page.locator('.team-count b');
    expect(await done.innerText()).toBe('9');
    await client.call('task.complete', { teamId: team, taskId: '8', result: 'fine' }, { as: 'dag' });
    await eventually(() => done.innerText()).toBe('10');
    const moment = page.getByRole('slider', { name: 'Moment' });
    const last = Number(await moment.inputValue());
    await page.keyboard.press('[');
    await eventually(() => done.innerText()).toBe('9');
    await page.getByRole('button', { name: /Back to live/ }).waitFor();
    expect(await page.getByRole('button', { name: 'New task' }).isDisabled()).toBe(true);
    await eventually(() => page.url()).toContain(`at=${last - 1}`);
    // While the page shows the past, it counts new events but does not show them.
    await client.call('task.create', { teamId: team, title: 'Later' });
    await page.getByText(/Back to live.*\+2/).waitFor();
    expect(await page.locator('.team-count').innerText()).toBe('9 of 24');

    const other = await openPage(browser(), client, `/t/${team}?view=list&at=40`);
    await other.page.locator('.live-back').waitFor();
    expect(await other.page.locator('.team-count').innerText()).toMatch(/^\d of 24$/);
    await other.page.getByRole('button', { name: 'To the beginning' }).click();
    await other.page.getByText('No task yet').waitFor();

    await page.keyboard.press('l');
    await eventually(() => page.locator('.team-count').innerText()).toBe('10 of 25');

    // Drags the slider along the time line and back to its end, then plays the whole history.
    const track = await page.locator('.track').boundingBox();
    if (!track) throw new Error('there is no line');
    const moveTo = (part: number) => page.mouse.move(track.x + part * track.width, track.y + 8, { steps: 6 });
    await moveTo(0.9);
    await page.mouse.down();
    await moveTo(0.5);
    await page.locator('.live-back').waitFor();
    const half = Number(await moment.inputValue());
    await moveTo(0.2);
    await eventually(async () => Number(await moment.inputValue())).toBeLessThan(half);
    await moveTo(1);
    await page.mouse.up();
    await page.locator('.time-line .live').getByText('Live').waitFor();
    // It plays at a fifth of its speed, so that it is not over before the test pauses it.
    await page.evaluate(SLOW_PLAY);
    await page.getByRole('button', { name: 'Play the history' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await eventually(async () => {
      const at = Number(await moment.inputValue());
      return at > 3 && at < last;
    }).toBe(true);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('.live-back').click();
    await eventually(() => page.locator('.team-count').innerText()).toBe('10 of 25');
    expectQuiet(watched, other);
  });

  test('tells messages, claims, gates and states apart on the time line, and lists them: a line leads to its moment', async (context) => {
    needTool(context, 'chromium');
    const team = 'events';
    const { page, client, watched } = await openStory(team, '?view=list');
    // cleo's last task ended 13 minutes ago, but its status stayed active.
    const cleo = page.locator('.side .member', { hasText: 'cleo' });
    await eventually(() => showsAge(cleo.locator('.member-task'), 'without a task for', END - 13 * 60_000)).toBe(true);
    expect(await cleo.innerText()).toMatch(/codex · gpt\s+616k tok\s+\$2\.30\s+41%/);
    // The time line ends at the current time, not at the last event.
    await client.call('task.claim', { teamId: team, taskId: '24' }, { as: 'cleo' });
    await cleo.getByText('#24').waitFor();
    const count = (lane: string): Promise<number> => page.locator(`.time-line .mark[data-lane="${lane}"]`).count();
    for (const lane of ['message', 'claim', 'gate', 'state']) expect(await count(lane)).toBeGreaterThan(4);
    const titles = await page.locator('.marks [data-shape="fail"]').evaluateAll((all) => all.map((one) => one.title));
    expect(titles.join()).toContain('failed #10: The check visits');
    await page.getByRole('button', { name: 'Events' }).click();
    const list = page.getByRole('region', { name: 'Events' });
    await list.getByRole('button', { name: 'Claims' }).click();
    await eventually(() => list.locator('li').first().innerText()).toContain('cleo claimed #24');
    await list.getByRole('button', { name: /dag claimed #8$/ }).click();
    await page.getByRole('button', { name: /Back to live/ }).waitFor();
    await eventually(() => list.locator('[aria-current]').innerText()).toContain('dag claimed #8');
    await list.getByRole('button', { name: 'Fold the events' }).click();
    await list.waitFor({ state: 'detached' });
    expectQuiet(watched);
  });

  test('has on a phone all that it has on a desktop: one line of what waits, filters, members, folded long messages', async (context) => {
    needTool(context, 'chromium');
    const team = 'phone';
    const { page, client, watched } = await openStory(team, '', { viewport: { width: 400, height: 820 } });
    const middle = async (selector: string): Promise<number> => {
      const box = await page.locator(selector).boundingBox();
      return (box?.y ?? 0) + (box?.height ?? 0) / 2;
    };
    const apart = (await middle('.team-head h1')) - (await middle('[aria-label="Team actions"]'));
    expect(Math.abs(apart)).toBeLessThan(4);
    // The progress has a line of its own. Each task shows its holder and since when.
    expect(await middle('.team-progress')).toBeGreaterThan((await middle('.team-head h1')) + 16);
    const row = page.locator('.list-row', { hasText: 'Mailbox: delivered' });
    expect((await row.innerText()).split(/\n+/)).toEqual([
      '#11',
      'In progress',
      expect.stringMatching(/^waits \d+[sm]$/),
      'Mailbox: delivered and read marks',
      'E',
      'eve',
    ]);
    expect((await row.locator('.holder').boundingBox())?.width).toBeGreaterThan(30);
    expect((await page.locator('.side').boundingBox())?.height).toBeLessThan(60);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('article', { name: 'Rejected work of ada' }).getByRole('button', { name: 'Accept' }).waitFor();
    await page.getByRole('button', { name: 'Fold', exact: true }).click();
    await page.getByRole('button', { name: 'Filter by member or status' }).click();
    await page.getByRole('menuitem', { name: 'cleo' }).click();
    await eventually(() => page.locator('.list-body .list-row').count()).toBe(2);
    await page.getByRole('button', { name: 'Members' }).click();
    await page.locator('.side-tab').getByRole('link', { name: 'bo' }).waitFor();

    const content = Array.from({ length: 40 }, (_, i) => `Line ${i} of a long letter.`).join('\n\n');
    await client.call('message.send', { teamId: team, toId: 'bo', content });
    const other = `${team}-peer`;
    await client.call('team.update', { teamId: team, peers: [other] });
    await client.call('team.create', { name: other, peers: [team] });
    const asked = { teamId: other, toId: `bo@${team}`, content: 'Is the mailbox ready?' };
    await client.call('message.send', asked, { as: 'lead' });
    await follow(page, `/t/${team}/m/bo?tab=inbox`);
    await page
      .getByRole('article', { name: `From lead@${other}` })
      .getByText('another team', { exact: true })
      .waitFor();
    const letter = page.locator('.message', { hasText: 'long letter' });
    await letter.waitFor();
    const height = async (): Promise<number> => (await letter.boundingBox())?.height ?? 0;
    expect(await height()).toBeLessThan(320);
    await letter.getByRole('button', { name: 'Show all' }).click();
    await eventually(height).toBeGreaterThan(700);
    expectQuiet(watched);
  });

  test('can be used with keys alone: arrow keys move through it; a task is opened, edited and closed', async (context) => {
    needTool(context, 'chromium');
    const team = 'keys';
    const { page, client, watched } = await openStory(team);
    await page.locator('.graph[data-nodes="24"]').waitFor();
    await page.locator('.graph').focus();
    await page.keyboard.press('Home');
    await eventually(() => page.locator('.graph > [aria-live]').innerText()).toContain('#8 Replay from any sequence');
    await page.keyboard.press('ArrowRight');
    await eventually(() => page.locator('.graph > [aria-live]').innerText()).toContain('#14 Scrub');
    await page.keyboard.press('Enter');
    const sheet = page.getByRole('dialog', { name: /Task 14/ });
    await sheet.waitFor();
    expect(page.url()).toContain('/task/14');
    await sheet.getByRole('button', { name: 'Edit' }).press('Enter');
    await sheet.getByLabel('Title').fill('Scrub it');
    await sheet.getByRole('button', { name: 'Save' }).press('Enter');
    await sheet.getByRole('heading', { name: 'Scrub it' }).waitFor();
    expect((await client.call('task.show', { teamId: team, taskId: '14' })).title).toBe('Scrub it');
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    // The graph below kept its position, and the arrow keys go on from it.
    await page.keyboard.press('ArrowLeft');
    await eventually(() => page.locator('.graph > [aria-live]').innerText()).toContain('#8 Replay from any sequence');
    expectQuiet(watched);
  });

  test('draws a dependency from one task to another, and says why not if it would close a cycle', async (context) => {
    needTool(context, 'chromium');
    const team = 'edges';
    const { page, client, watched } = await openStory(team);
    await page.locator('.graph[data-nodes="24"]').waitFor();
    const draw = async (from: string, to: string): Promise<void> => {
      const source = page.locator(`.react-flow__node[data-id="${from}"]`);
      await source.hover();
      await source.locator('.react-flow__handle-right').hover();
      await page.mouse.down();
      const target = await page.locator(`.react-flow__node[data-id="${to}"] .react-flow__handle-left`).boundingBox();
      await page.mouse.move((target?.x ?? 0) + 4, (target?.y ?? 0) + 4, { steps: 8 });
      await page.mouse.up();
    };
    await draw('17', '16');
    await page.getByText('#16 now waits for #17').waitFor();
    expect((await client.call('task.show', { teamId: team, taskId: '16' })).dependencies).toEqual(['10', '17']);
    await page.locator('.graph[data-edges="27"]').waitFor();
    await draw('16', '17');
    await page.locator('.toast.failed').getByText(/cycle/i).waitFor();
    expectQuiet(watched);
  });
});

test('two people edit the text of a task at once and nothing is lost: the second sees the other text and chooses', async (context) => {
  needTool(context, 'chromium');
  const team = 'words';
  const { page, client, watched } = await openStory(team, '/task/24?view=list');
  const other = await openPage(browser(), client, `/t/${team}/task/24?view=list`);
  const show = () => client.call('task.show', { teamId: team, taskId: '24' });
  const edit = async (on: Page, title: string): Promise<void> => {
    await on.getByRole('dialog').getByRole('button', { name: 'Edit' }).click();
    await on.getByRole('dialog').getByLabel('Title').fill(title);
  };
  const save = (on: Page): Promise<void> => on.getByRole('button', { name: 'Save' }).click();
  const changed = page.getByRole('alert').filter({ hasText: 'changed this task while you edited it' });
  await edit(page, 'Mine');
  // A change of another field causes no conflict.
  await client.call('task.update', { teamId: team, taskId: '24', priority: 'critical' });
  await edit(other.page, 'Theirs');
  await save(other.page);
  await changed.getByText('Theirs', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Keep mine' }).click();
  await save(page);
  await eventually(async () => (await show()).title).toBe('Mine');
  expect((await show()).priority).toBe('critical');

  await edit(page, 'Mine again');
  await client.call('task.update', { teamId: team, taskId: '24', title: 'Of bo' }, { as: 'bo' });
  await changed.getByText('bo changed').waitFor();
  await page.getByRole('button', { name: 'Take theirs' }).click();
  expect(await page.getByLabel('Title').inputValue()).toBe('Of bo');
  await save(page);
  await page.getByRole('heading', { name: 'Of bo' }).waitFor();
  expectQuiet(watched, other);
});

test('a task can be created, assigned, raised in priority, blocked, completed, reopened, deleted and restored', async (context) => {
  needTool(context, 'chromium');
  const team = 'task';
  const { page, client, watched } = await openStory(team, '?view=list');
  const show = () => client.call('task.show', { teamId: team, taskId: '25' });
  await page.keyboard.press('n');
  const form = page.getByRole('dialog', { name: 'New task' });
  await form.getByLabel('Title').fill('Measure it');
  await form.getByLabel('Waits for').fill('#1 3');
  await form.getByRole('button', { name: 'Create' }).click();
  await page.getByText('#25 was created').waitFor();
  expect(await show()).toMatchObject({
    title: 'Measure it',
    dependencies: ['1', '3'],
    status: 'pending',
    createdBy: '@user',
  });
  await page.getByRole('link', { name: 'Measure it' }).click();
  const sheet = page.getByRole('dialog', { name: /Task 25/ });
  await sheet.getByRole('combobox', { name: /^For/ }).selectOption('bo');
  await eventually(async () => (await show()).assigneeId).toBe('bo');
  await sheet.getByRole('combobox', { name: /^Priority/ }).selectOption('critical');
  await eventually(async () => (await show()).priority).toBe('critical');
  await sheet.getByRole('combobox', { name: 'Add a dependency' }).fill('#17');
  await page.keyboard.press('Enter');
  await eventually(async () => (await show()).status).toBe('blocked');
  await sheet.getByRole('button', { name: 'Remove the dependency on #17' }).click();
  await eventually(async () => (await show()).status).toBe('pending');
  await sheet.getByRole('button', { name: 'Complete' }).click();
  await eventually(async () => (await show()).status).toBe('completed');
  await sheet.getByRole('button', { name: 'Reopen' }).click();
  await eventually(async () => (await show()).status).toBe('pending');
  await sheet.getByRole('button', { name: 'Delete' }).click();
  await sheet.getByText('This task was deleted').waitFor();
  await sheet.getByRole('button', { name: 'Bring it back' }).click();
  await sheet.getByRole('heading', { name: 'Measure it' }).waitFor();
  expectQuiet(watched);
});

test('every request can be answered from one queue by keys, and two browsers agree at once', async (context) => {
  needTool(context, 'chromium');
  // The queue lists the requests of all teams, so this daemon has only one.
  const team = 'journal-v2';
  const { client } = await setStage(writeStory);
  const watched = await openPage(browser(), client, '/queue');
  const { page } = watched;
  await eventually(() => page.title()).toBe('(3) Queue · Troupe');
  const other = await openPage(browser(), client, `/t/${team}`);
  await other.page.getByText('Waits for you 3').waitFor();
  const detail = page.locator('.queue-detail');
  await detail.getByRole('heading', { name: 'Rejected work of ada' }).waitFor();
  await page.keyboard.press('j');
  await detail.getByRole('heading', { name: 'Plan of finn' }).waitFor();
  await detail.getByText('At most 12 lines; the rest as a count').waitFor();
  await page.keyboard.press('r');
  await page.keyboard.type('Say how it is tested.');
  await page.keyboard.press('Control+Enter');
  await eventually(() => page.title()).toBe('(2) Queue · Troupe');
  const plans = await client.call('request.list', { teamId: team, kind: 'plan' });
  expect(plans).toMatchObject([{ status: 'rejected', feedback: 'Say how it is tested.', answeredBy: '@user' }]);
  await other.page.getByText('Waits for you 2').waitFor();

  // The other browser accepts the work that the gate rejected. The task is completed, here too.
  await other.page
    .getByRole('article', { name: 'Rejected work of ada' })
    .getByRole('button', { name: 'Accept' })
    .click();
  await eventually(() => page.title()).toBe('(1) Queue · Troupe');
  await until(
    'the task is done',
    async () => (await client.call('task.show', { teamId: team, taskId: '13' })).status === 'completed',
  );
  await eventually(() => other.page.locator('.team-count b').innerText()).toBe('10');
  await detail.getByText('Rejected: Say how it is tested.').waitFor();
  await page.keyboard.press('j');
  await detail.getByRole('heading', { name: 'Permission of eve' }).waitFor();
  await detail.locator('[data-answer=yes]:enabled').waitFor();
  await page.keyboard.press('a');
  await page.getByText('Nothing else waits for you').waitFor();
  await eventually(() => page.title()).toBe('Queue · Troupe');
  expectQuiet(watched, other);
});

import { expect, test } from 'vitest';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, useBrowser, usePage } from './browser.ts';
import { END, writeLongTranscript, writeTranscript } from './long-transcript.ts';
import { useStage } from './stage.ts';

const browser = useBrowser();
const stage = useStage();
const open = usePage(browser, stage);

const TEAM = 'long';

/** A gate that prints much, the failing line in its middle. */
const GATE = `for i in $(seq 400); do echo fine $i; done; echo "${END}"; for i in $(seq 400); do echo after $i; done; exit 2`;

async function openLog() {
  const { client, home } = stage();
  const names = (await client.call('team.list', {})).map(({ name }) => name);
  if (!names.includes(TEAM)) {
    await client.call('team.create', { name: TEAM, description: 'Has a long transcript' });
    await client.call('member.add', { teamId: TEAM, name: 'ada', role: 'tester' });
    writeLongTranscript(home, TEAM, 'ada');
  }
  const watched = await open(`/t/${TEAM}/m/ada`);
  const log = watched.page.getByRole('log');
  await log.getByText('Turn failed').waitFor();
  return { watched, page: watched.page, log };
}

test('a transcript of 20 MB is reached to its first word, and the turn of 5 MB to its end', async (context) => {
  needTool(context, 'chromium');
  const { watched, page, log } = await openLog();
  // The end of the long turn is on the page, without a word of its middle.
  await log.getByText('Read this:').click();
  await log.locator('.told').getByText(END).waitFor();
  const all = log.getByRole('button', { name: /Show more: 4,9\d\d,\d\d\d characters are left out/ });
  const rest = log.getByRole('button', { name: /Show more: 4,7\d\d,\d\d\d characters/ });
  await eventually(async () => {
    // The log still follows its end, which the opened turn has moved: a click in that moment misses.
    if ((await rest.count()) === 0) await all.click({ timeout: 1_000 }).catch(() => undefined);
    return rest.count();
  }).toBe(1);

  // What is above comes as one scrolls, and what one reads stays where it is.
  const steps = (): Promise<string[]> => log.locator('.step b').allInnerTexts();
  await log.evaluate((box) => box.scrollTo(0, 0));
  await eventually(async () => (await steps()).length).toBeGreaterThan(3);
  await eventually(() => log.evaluate((box) => box.scrollTop)).toBeGreaterThan(0);

  await page.getByRole('button', { name: 'To the beginning' }).click();
  await log.getByText('The very first words').waitFor();
  await log.getByText('Look at everything').waitFor();
  await page.getByRole('button', { name: 'To the end' }).click();
  await log.getByText('Turn failed').waitFor();
  expectQuiet(watched);
});

test('a search finds what is not loaded, and goes there', async (context) => {
  needTool(context, 'chromium');
  const { watched, page, log } = await openLog();
  const find = page.getByRole('searchbox');
  await find.fill('RAN STEP 2345');
  await page.getByRole('status').getByText('1').waitFor();
  await find.press('Enter');
  await log.getByText('ran step 2345').waitFor();
  await page.getByRole('status').getByText('1 of 1').waitFor();
  await find.fill(END);
  await page.getByRole('status').getByText('2').waitFor();
  await page.getByRole('button', { name: 'Previous match' }).click();
  await log.locator('.end').getByText(END).waitFor();
  await find.fill('no such words');
  await page.getByRole('status').getByText('nothing found').waitFor();
  expectQuiet(watched);
});

test('an edit is shown as a difference', async (context) => {
  needTool(context, 'chromium');
  const { watched, log } = await openLog();
  const edit = log.locator('.tool', { hasText: 'src/parse.ts' });
  expect(await edit.locator('.edit-counts').innerText()).toBe('+1 −1');
  await edit.locator('summary').click();
  expect(await edit.locator('.edit-line.is-removed').innerText()).toContain('return 41;');
  expect(await edit.locator('.edit-line.is-added').innerText()).toContain('return 42;');
  expect(await edit.innerText()).not.toContain('old_string');
  expectQuiet(watched);
});

test('a task has its attempts with their log, what the gate said, its messages, and its answer', async (context) => {
  needTool(context, 'chromium');
  const { client, home } = stage();
  const teamId = 'judged';
  await client.call('team.create', { name: teamId, description: 'Has a gate' });
  await client.call('member.add', { teamId, name: 'ada', role: 'tester' });
  await client.call('task.create', { teamId, title: 'Count to 42' });
  await client.call('task.claim', { teamId, taskId: '1' }, { as: 'ada' });
  await client.call('task.release', { teamId, taskId: '1', reason: 'too hard' }, { as: 'ada' });
  await client.call('task.claim', { teamId, taskId: '1' }, { as: 'ada' });
  await client.call('message.send', { teamId, toId: 'ada', content: 'Is #1 hard?' });
  await client.call('hook.register', { teamId, type: 'TaskCompleted', command: GATE, onFailure: 'block' });
  await expect(client.call('task.complete', { teamId, taskId: '1' }, { as: 'ada' })).rejects.toThrow('41');
  writeTranscript(home, teamId, 'ada', [
    { at: Date.now(), type: 'session', sessionId: 's1', agent: 'claude' },
    { at: Date.now(), type: 'text', text: 'I count on my fingers' },
  ]);
  await client.call(
    'request.raise',
    { teamId, memberId: 'ada', kind: 'permission', content: 'rm fingers', taskId: '1' },
    { as: 'ada' },
  );

  const watched = await open(`/t/${teamId}/task/1`);
  const { page } = watched;
  const sheet = page.getByRole('dialog', { name: 'Task 1: Count to 42' });
  await sheet.getByRole('heading', { name: '2 attempts' }).waitFor();
  await sheet.getByText('too hard').first().waitFor();

  // From the rejection to the line that says why, in one click.
  await sheet.getByRole('button', { name: 'Show the failing line' }).click();
  const output = sheet.locator('.gate-output pre').first();
  await output.getByText(END).waitFor();
  await eventually(() => output.evaluate((box) => box.scrollTop)).toBeGreaterThan(1_000);
  await sheet.getByText('Sent back', { exact: true }).waitFor();

  await sheet.getByRole('tab', { name: 'Messages' }).click();
  await sheet.getByText('Is #1 hard?').waitFor();

  await sheet.getByRole('tab', { name: 'Task' }).click();
  await sheet.getByRole('button', { name: 'Log of attempt 2' }).click();
  await sheet.getByRole('log').getByText('I count on my fingers').waitFor();
  await sheet.getByRole('tab', { name: 'Task' }).click();

  const request = sheet.getByRole('article', { name: 'Permission of ada' });
  await request.getByText('rm fingers').waitFor();
  await request.getByRole('button', { name: 'Allow' }).click();
  await eventually(async () => (await client.call('request.list', { teamId })).map(({ status }) => status)).toEqual([
    'approved',
  ]);
  expectQuiet(watched);
});

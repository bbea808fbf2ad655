import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, pressInRow, useBrowser, usePage } from './browser.ts';
import { useStage } from './stage.ts';

const browser = useBrowser();
const stage = useStage();
const open = usePage(browser, stage);

const AGENTS = join(import.meta.dirname, '../fixtures/agents');
const programs = { slow: join(AGENTS, 'slow.js'), tells: join(AGENTS, 'tells.js') };

/** Makes a team without members. Its programs finish once the file `go` exists. */
async function makeTeam(name: string) {
  const { client } = stage();
  await client.call('team.create', { name, description: 'A live one' });
  return { client, go: join(temporaryFolder(), 'go') };
}

describe('a team of programs', () => {
  test('can be given members and work, messaged, watched, stopped, restarted and shut down by hand', async (context) => {
    needTool(context, 'chromium');
    const team = 'by-hand';
    const { client, go } = await makeTeam(team);
    const watched = await open();
    const { page } = watched;

    await page.getByRole('link', { name: team }).click();
    await page.getByRole('button', { name: 'Create a task' }).click();
    const form = page.getByRole('dialog', { name: 'New task' });
    await form.getByLabel('Title').fill('Count the files');
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByText('#1 was created').waitFor();

    await page.keyboard.press('Control+k');
    await page.keyboard.type('spawn');
    await page.keyboard.press('Enter');
    const spawn = page.getByRole('dialog', { name: 'Spawn a teammate' });
    await spawn.getByLabel('Name').fill('worker');
    await spawn.getByLabel('Run by').selectOption({ label: 'a program…' });
    await spawn.getByLabel('Command').fill(`/usr/bin/env WORK_UNTIL=${go} "${programs.slow}"`);
    await spawn.getByRole('button', { name: 'Spawn' }).click();
    await page.getByText('worker is starting').waitFor();
    await page.locator('.node.is-in_progress').getByText('Count the files').waitFor();

    // The worker's page shows its output as it comes.
    await page.getByRole('link', { name: 'worker' }).click();
    await page.locator('.told-task').getByText('#1').waitFor();
    await page.locator('.step.said').getByText('working').waitFor();
    await page.getByLabel('Write to worker').fill('How far are you?');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Urgent' }).click();
    await page.getByLabel('Write to worker').fill('Hurry');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('tab', { name: /Inbox/ }).click();
    await page.locator('.message').getByText('How far are you?').waitFor();
    await page.locator('.message', { hasText: 'Hurry' }).getByText('urgent').waitFor();
    const mail = await client.call('message.inbox', { teamId: team, memberId: 'worker' });
    expect(mail).toMatchObject([
      { content: 'How far are you?', fromId: '@user', priority: 'normal' },
      { content: 'Hurry', priority: 'urgent' },
    ]);

    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('worker was stopped').waitFor();
    await page.locator('.member-head .status').getByText('Stopped').waitFor();
    await page.getByRole('button', { name: 'Restart' }).click();
    await page.locator('.member-head .status').getByText('Working').waitFor();

    // Once `go` exists the program finishes, and its messages are marked as read.
    writeFileSync(go, '');
    await page.getByRole('tab', { name: /Transcript/ }).click();
    await page.getByText('did Count the files').first().waitFor();
    await page.getByRole('tab', { name: /Tasks/ }).click();
    await page.locator('.member-tasks').getByText('Completed').waitFor();
    await page.getByRole('tab', { name: /Inbox/ }).click();
    await page.locator('.message', { hasText: 'Hurry' }).getByText('read').waitFor();

    await page.getByRole('button', { name: 'Actions for worker' }).click();
    await page.getByRole('menuitem', { name: 'Ask to shut down' }).click();
    await page.locator('.member-head .status').getByText('Stopped').waitFor();

    await pressInRow(page, 'g', 'g');
    await page.getByRole('button', { name: 'Team actions' }).click();
    await page.getByRole('menuitem', { name: 'Shut the team down…' }).click();
    await page.getByRole('button', { name: 'Shut down', exact: true }).click();
    await page.locator('.team-head').getByText('Closed').waitFor();
    expect((await client.call('team.show', { teamId: team })).status).toBe('cleaned-up');
    expect(await page.getByRole('button', { name: 'New task' }).isDisabled()).toBe(true);
    expectQuiet(watched);
  });

  test('is shown at work: cards, the critical path, tools and their output, messages and their marks, usage', async (context) => {
    needTool(context, 'chromium');
    const team = 'at-work';
    const { client, go } = await makeTeam(team);
    const task = (title: string, dependencies: string[] = []) =>
      client.call('task.create', { teamId: team, title, dependencies });
    await task('Count');
    await task('Report', ['1']);
    await task('Aside', ['1']);
    await task('Publish', ['2']);
    const command = ['/usr/bin/env', `WORK_UNTIL=${go}`, programs.tells];
    const agent = { kind: 'exec', command } as const;
    await client.call('member.spawn', { teamId: team, name: 'teller', role: 'counter', agent });
    const watched = await open(`/t/${team}`);
    const { page } = watched;
    await page.locator('.node.is-in_progress').getByText('Count').waitFor();
    await page.locator('.figures').getByText('3 left').waitFor();
    await eventually(() => page.locator('.node.critical').count()).toBe(3);
    expect(await page.locator('.node.critical', { hasText: 'Aside' }).count()).toBe(0);
    const card = page.locator('.side .member', { hasText: 'teller' });
    await eventually(() => card.innerText()).toMatch(/teller\s+counter\s+Working\s+#1\s+Count\s+· \d+[sm]\s+exec/);
    await page.keyboard.press('3');
    await page.locator('.toolbar').getByRole('button', { name: 'Status' }).click();
    await page.getByRole('menuitem', { name: 'Blocked' }).click();
    await eventually(() => page.locator('.list-body .list-row').count()).toBe(3);

    // A second member with the same program finds nothing to do. The lead now has two teammates.
    await page.locator('.side').getByRole('button', { name: 'Spawn a teammate' }).click();
    const spawn = page.getByRole('dialog', { name: 'Spawn a teammate' });
    await spawn.getByLabel('Name').fill('twin');
    await spawn.getByLabel('Run by').selectOption({ label: 'the same as teller (exec)' });
    await spawn.getByRole('button', { name: 'Spawn' }).click();
    await page.locator('.side .member', { hasText: 'twin' }).getByText('Idle').waitFor();
    await page.locator('.side .badge').getByText('· 2').waitFor();

    await card.getByRole('link', { name: 'teller' }).click();
    await page.locator('.step.said strong').getByText('Count').waitFor();
    const tool = page.locator('.step.tool').first();
    await tool.getByText('running').waitFor();
    await page.getByLabel('Write to teller').fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: /Inbox/ }).click();
    await page.locator('.message', { hasText: 'Hello' }).getByText('waiting').waitFor();
    writeFileSync(go, '');
    await page.locator('.message', { hasText: 'Hello' }).getByText('read').waitFor();
    await page.getByRole('tab', { name: /Transcript/ }).click();
    await page.locator('.log-scroll').evaluate('(box) => box.scrollTo(0, 0)');
    expect(await tool.getByText('42 files').isVisible()).toBe(false);
    await tool.locator('summary').click();
    await tool.getByText('42 files').waitFor();
    await eventually(async () => (await client.call('task.list', { teamId: team, status: 'completed' })).length).toBe(
      4,
    );
    await page.getByRole('tab', { name: /Usage/ }).click();
    await page.getByRole('img', { name: /^teller used [\d.]+k tokens in \d turns?$/ }).waitFor();

    // Shut down by keys. A closed team can still be read, with its cost.
    await page.keyboard.press('Control+k');
    await page.keyboard.type(`shut ${team} down`);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: `Shut ${team} down?` }).waitFor();
    await page.getByRole('button', { name: 'Shut down', exact: true }).press('Enter');
    await page.getByText(`${team} is closed; it can still be read`).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await pressInRow(page, 'g', 't');
    const row = page.getByRole('table', { name: 'Closed teams' }).getByRole('row', { name: new RegExp(team) });
    await eventually(() => row.innerText()).toMatch(/4 of 4[\s\S]*\$1\.00/);
    await row.getByRole('link', { name: team }).click();
    await page.locator('.team-head').getByText('Closed').waitFor();
    expectQuiet(watched);
  });

  test('can be written to as a whole, and the panel of its lead lists every teammate', async (context) => {
    needTool(context, 'chromium');
    const team = 'as-a-whole';
    const { client } = await makeTeam(team);
    for (const name of ['ada', 'bo', 'cleo']) await client.call('member.add', { teamId: team, name });
    const watched = await open(`/t/${team}`);
    const { page } = watched;
    await page.getByRole('button', { name: 'Team actions' }).click();
    await page.getByRole('menuitem', { name: 'Write to all…' }).click();
    await page.getByLabel('Message').fill('Good **morning**');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(/Sent to \d/).waitFor();
    await page.getByRole('link', { name: 'lead', exact: true }).click();
    await page.locator('.member-head .badge').getByText('Team Lead').waitFor();
    const panel = page.locator('.team-panel');
    await panel.getByText('3 teammates').waitFor();
    await panel.locator('summary').first().click();
    await eventually(() => panel.getByText('cleo').isVisible()).toBe(false);
    await panel.locator('summary').first().click();
    await panel.getByRole('link', { name: 'cleo' }).click();
    await page.getByRole('tab', { name: /Inbox/ }).click();
    await page.locator('.message strong').getByText('morning').waitFor();
    expectQuiet(watched);
  });
});

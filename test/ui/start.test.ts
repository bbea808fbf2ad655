import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseTeamFile } from '../../src/runtime/team-file/parse.ts';
import { nameOf, problemOfBudget, PROGRAM, sourceOf } from '../../ui/forms/team-source.ts';
import { connect, serve, temporaryHome } from '../daemon/serve.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { plainGit } from '../workspaces/project.ts';
import { eventually, expectQuiet, openPage, useBrowser } from './browser.ts';
import { nativeRoot, useDashboard } from './stage.ts';

const browser = useBrowser();
useDashboard();

const WANTED = {
  name: '',
  goal: 'Fix the parser: it "loses" lines\nand # comments',
  lead: { agent: 'claude', model: '', mode: 'edit', program: '' },
  members: [
    { agent: 'codex', model: 'fast', mode: '', program: '' },
    { agent: 'codex', model: '', mode: 'plan', program: '' },
    { agent: PROGRAM, model: '', mode: '', program: './work.sh "a b" # c' },
  ],
  budget: '5',
  workspaces: 'shared',
} as const;

test('what a person wants becomes a team file that says the same', () => {
  expect(parseTeamFile(sourceOf(WANTED), 'troupe.yaml')).toMatchObject({
    team: 'fix-the-parser-it-loses',
    lead: { agent: 'claude', mode: 'edit', prompt: WANTED.goal },
    agents: { codex: { mode: 'edit' } },
    members: [
      { name: 'codex', agent: 'codex', model: 'fast' },
      { name: 'codex-2', agent: 'codex', mode: 'plan' },
      { name: 'worker', agent: { exec: './work.sh "a b" # c' } },
    ],
    budget: { usd: 5 },
    work: { workspaces: 'shared' },
  });
  expect(nameOf({ name: '', goal: '?!' })).toBe('team');
  expect(nameOf({ name: '', goal: 'Tidy up' }, new Set(['tidy-up', 'tidy-up-2']))).toBe('tidy-up-3');
});

test('a budget is a number of dollars', () => {
  for (const good of ['', ' 5 ', '2.50', '0.000001']) expect(problemOfBudget(good), good).toBeUndefined();
  for (const bad of ['0', '-1', 'five', '5$', '1e9', '1,000']) expect(problemOfBudget(bad), bad).toMatch(/above 0/);
});

test('a team is started from the first screen, and what would not work is said before', async (context) => {
  needTool(context, 'chromium');
  const folder = temporaryFolder();
  const programs = join(folder, 'bin');
  for (const name of ['bin', 'project', 'codex']) mkdirSync(join(folder, name));
  for (const name of ['gemini', 'codex', 'claude']) {
    writeFileSync(join(programs, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  }
  // The name of the file shows the login; its content is nobody's business.
  writeFileSync(join(folder, 'codex/auth.json'), '');
  const home = temporaryHome();
  const env = {
    CLAUDE_CONFIG_DIR: nativeRoot(home),
    CODEX_HOME: join(folder, 'codex'),
    GEMINI_CLI_HOME: folder,
    PATH: `${programs}:/usr/bin:/bin`,
  };
  const daemon = await serve(home, { env });
  const client = connect(home, { patience: Infinity });
  const watched = await openPage(browser(), client);
  const { page } = watched;
  await page.getByRole('button', { name: 'Start here' }).click();
  const form = page.getByRole('dialog', { name: 'Start work' });
  const start = form.getByRole('button', { name: 'Start', exact: true });
  const field = (label: RegExp) => form.getByRole('textbox', { name: label });
  const trouble = (text: string | RegExp) => form.locator('.start-line.is-failed, .problem, .error').getByText(text);
  await field(/^Goal/).fill('Tidy up');

  // Agents that can begin come first, then those without a login, then those that are not here.
  const lead = form.getByRole('group', { name: 'Lead' }).locator('select').first();
  expect(await lead.inputValue()).toBe('codex');
  const offered = await lead.locator('option').allInnerTexts();
  expect(offered.slice(0, 4)).toEqual([
    'Codex',
    'Gemini CLI',
    'Claude Code (no login found)',
    expect.stringMatching(/^Claude Code in a terminal.*\(no login found\)$/),
  ]);
  expect(offered).toContainEqual('OpenCode (not installed)');

  // Each obstacle has its words, and the button stays off.
  await field(/^Folder/).fill('project');
  await trouble('it begins with /').waitFor();
  await field(/^Folder/).fill(join(folder, 'nowhere'));
  await trouble(/nowhere/).waitFor();
  await field(/^Folder/).fill(join(folder, 'project'));
  await form.getByText('All members work in this folder itself: only one member works here').waitFor();
  await lead.selectOption('claude');
  await form.getByText('claude auth login').waitFor();
  await lead.selectOption('opencode');
  await form.getByText('npm install -g opencode-ai').first().waitFor();
  await trouble(/opencode/).waitFor();
  expect(await start.isDisabled()).toBe(true);
  await lead.selectOption('codex');
  await field(/^Budget/).fill('a lot');
  await trouble('above 0').waitFor();
  await field(/^Budget/).fill('5');
  await form.getByRole('button', { name: 'Add a teammate' }).click();
  await form.getByText('All members work in this folder itself: there is no git repository').waitFor();
  await form.getByLabel('Workspaces').selectOption('own');
  await trouble('there is no git repository').waitFor();
  plainGit(join(folder, 'project'), 'init', '-q');
  await field(/^Goal/).fill('Tidy up!');
  await trouble('has no commit yet').waitFor();
  expect(await start.isDisabled()).toBe(true);
  await form.getByLabel('Workspaces').selectOption('shared');
  await form.getByRole('button', { name: 'Remove Teammate 1' }).click();
  await client.call('team.create', { name: 'tidy-up' });
  await field(/^Name/).fill('tidy-up');
  await trouble('There is a team named tidy-up already').waitFor();
  expect(await start.isDisabled()).toBe(true);
  await field(/^Name/).fill('');

  // The file can be kept, and replaces another one only on request.
  const file = join(folder, 'project/troupe.yaml');
  writeFileSync(file, 'mine\n');
  await form.getByText('This team as a file').click();
  await form.getByText('team: "tidy-up-2"').waitFor();
  await form.getByRole('button', { name: 'Save in the folder' }).click();
  await form.getByText('troupe.yaml exists already').waitFor();
  expect(readFileSync(file, 'utf8')).toBe('mine\n');
  await form.getByRole('button', { name: 'Replace troupe.yaml there' }).click();
  await form.getByText('Saved as').waitFor();
  expect(parseTeamFile(readFileSync(file, 'utf8'), file)).toMatchObject({ team: 'tidy-up-2', budget: { usd: 5 } });

  await eventually(() => start.isEnabled()).toBe(true);
  await start.click();
  await page.getByRole('heading', { name: 'tidy-up-2' }).waitFor();
  expect(await client.call('team.show', { teamId: 'tidy-up-2' })).toMatchObject({ description: 'Tidy up!' });
  expectQuiet(watched);
  // Its members end with it.
  await client.call('daemon.stop', {});
  await daemon.ended;
});

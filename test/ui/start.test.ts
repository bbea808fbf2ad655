import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseTeamFile } from '../../src/runtime/team-file/parse.ts';
import { nameOf, sourceOf } from '../../ui/forms/team-source.ts';
import { connect, serve, temporaryHome } from '../daemon/serve.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { expectQuiet, openPage, useBrowser } from './browser.ts';
import { nativeRoot, useDashboard } from './stage.ts';

const browser = useBrowser();
useDashboard();

const WANTED = {
  name: '',
  goal: 'Fix the parser: it "loses" lines\nand # comments',
  lead: { agent: 'claude', model: '', mode: 'edit' },
  members: [
    { agent: 'codex', model: 'fast', mode: '' },
    { agent: 'codex', model: '', mode: 'plan' },
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
    ],
    budget: { usd: 5 },
    work: { workspaces: 'shared' },
  });
  expect(nameOf({ name: '', goal: '?!' })).toBe('team');
});

test('a team is started from the first screen, and what would not work is said before', async (context) => {
  needTool(context, 'chromium');
  const programs = join(temporaryFolder(), 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'gemini'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const home = temporaryHome();
  const PATH = `${programs}:/usr/bin:/bin`;
  const daemon = await serve(home, { env: { CLAUDE_CONFIG_DIR: nativeRoot(home), PATH } });
  const client = connect(home, { patience: Infinity });
  const watched = await openPage(browser(), client);
  const { page } = watched;
  await page.getByRole('button', { name: 'Start here' }).click();
  const form = page.getByRole('dialog', { name: 'Start work' });
  const start = form.getByRole('button', { name: 'Start', exact: true });
  await form.getByRole('textbox', { name: /^Folder/ }).fill(temporaryFolder());
  await form.getByRole('textbox', { name: /^Goal/ }).fill('Tidy up');
  await form.getByText('All members work in this folder itself').waitFor();

  // The installed agent comes first; another one is refused before anything starts.
  const lead = form.getByRole('group', { name: 'Lead' }).locator('select').first();
  expect(await lead.inputValue()).toBe('gemini');
  await lead.selectOption('codex');
  await form.locator('.start-line.is-failed').waitFor();
  expect(await start.isDisabled()).toBe(true);
  expect(await client.call('team.list', {})).toEqual([]);

  await lead.selectOption('gemini');
  await form.getByText('This team as a file').click();
  await form.getByText('team: "tidy-up"').waitFor();
  await start.click();
  await page.getByRole('heading', { name: 'tidy-up' }).waitFor();
  expect(await client.call('team.show', { teamId: 'tidy-up' })).toMatchObject({ description: 'Tidy up' });
  expectQuiet(watched);
  // Its members end with it.
  await client.call('daemon.stop', {});
  await daemon.ended;
});

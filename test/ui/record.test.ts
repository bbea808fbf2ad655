import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { BIN, environmentFor } from '../daemon/serve.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { isInstalled, needTool } from '../tools.ts';
import { eventually, useBrowser } from './browser.ts';
import { go, openFile } from './record-page.ts';
import { useStage } from './stage.ts';
import { writeStory } from './story.ts';
import { playWork, writeWorkTeam } from './work-team.ts';

const SECRET = `ghp_${'a1B2'.repeat(9)}`;
const HOSTILE = '</script><script>globalThis.ran=1</script>\u2028<img src=x onerror="globalThis.ran=1">';

const browser = useBrowser();
const stage = useStage(async (home) => {
  await writeStory(home, 'story', { within: 24 * 60 * 60_000 });
  await writeWorkTeam(home, 'words');
});

/** Runs `troupe export`; returns the code, and what was printed. */
async function troupe(...args: readonly string[]) {
  const options = { env: environmentFor(stage().home), maxBuffer: 64 * 1024 * 1024 };
  const done = promisify(execFile)(process.execPath, [BIN, ...args], options);
  return done.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as { code: number; stdout: string; stderr: string },
  );
}

/** Exports a team into a new file. */
async function exported(teamId: string, ...flags: readonly string[]): Promise<string> {
  const file = join(temporaryFolder(), `${teamId}.html`);
  const { code, stderr } = await troupe('export', teamId, file, ...flags);
  expect(code, stderr).toBe(0);
  return file;
}

/** The buttons and fields that a record must not have: each would need a daemon. */
const ACTIONS =
  /new task|spawn|merge|restart|stop$|shut down|send$|write to|log out|settings|queue|search|choose|move #|edit|assign|approve|reject|read it again/i;

async function offered(page: Page): Promise<string[]> {
  const controls = page.locator('button:visible, a:visible, input:visible, textarea:visible, select:visible');
  const names = await controls.evaluateAll((all) =>
    all.map((one) => one.getAttribute('aria-label') ?? one.textContent ?? ''),
  );
  return names.filter((name) => ACTIONS.test(name.trim()));
}

describe('a record', () => {
  beforeAll(async () => {
    if (!isInstalled('chromium')) return;
    const { client, home } = stage();
    await playWork(client, 'words');
    await client.call('message.send', { teamId: 'words', toId: 'ann', content: `${HOSTILE} key ${SECRET}` });
    await client.call('task.create', { teamId: 'words', title: `${HOSTILE.replaceAll('\u2028', ' ')} ${SECRET}` });
    const folder = join(home.transcripts, 'words', 'ann');
    mkdirSync(folder, { recursive: true });
    const entries = [
      { at: Date.now(), type: 'text', text: `Begin. ${HOSTILE}` },
      { at: Date.now(), type: 'text', text: `The key is ${SECRET}, I keep it.` },
    ];
    writeFileSync(join(folder, 's1.jsonl'), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  });

  test('opens from disk with time line, tasks, messages and numbers, asks for nothing and offers nothing', async (context) => {
    needTool(context, 'chromium');
    const { page, faults } = await openFile(browser(), await exported('story'));
    await expect(page.getByRole('note').innerText()).resolves.toMatch(
      /^Record of team story, exported .* by Troupe \d/,
    );
    await page.getByRole('group', { name: 'View' }).getByRole('button', { name: 'List' }).click();
    await eventually(() => page.getByRole('row').count()).toBeGreaterThan(10);
    expect(await offered(page)).toEqual([]);
    // Whoever opens it days later would be told something false.
    const ago = async (): Promise<string[]> => (await page.locator('body').innerText()).match(/.*\bago\b.*/g) ?? [];
    expect(await ago()).toEqual([]);
    await page.getByRole('button', { name: 'To the beginning' }).click();
    await page.getByRole('button', { name: 'To the end' }).waitFor();
    await page.getByRole('button', { name: 'Events' }).click();
    await page.getByText('created', { exact: false }).first().waitFor();
    await page.getByRole('button', { name: 'To the end' }).click();
    await go(page, '/t/story/m/cleo?tab=inbox');
    await page.getByText('Second time that the gate sends').waitFor();
    expect(await offered(page)).toEqual([]);
    expect(await ago()).toEqual([]);
    await go(page, '/t/story/numbers');
    await page.getByRole('heading', { name: 'Numbers' }).waitFor();
    await go(page, '/t/story/task/10');
    await page.getByRole('dialog', { name: 'Task 10' }).waitFor();
    expect(await offered(page)).toEqual([]);
    expect(await page.getByRole('dialog').innerText()).toMatch(/Created\s.*\d\d:\d\d:\d\d/);
    expect(await ago()).toEqual([]);
    // The graph is laid out by a worker that is inside of the file.
    await go(page, '/t/story?view=graph');
    await page.locator('.react-flow__node').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Go to a member or task').waitFor();
    expect(await offered(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('shows the differences of the branch and of tasks, says what is too large, and keeps hostile text harmless', async (context) => {
    needTool(context, 'chromium');
    const file = await exported('words');
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain('globalThis.ran');
    const { page, faults } = await openFile(browser(), file, '#/t/words/diff');
    await page.locator('.diff-size', { hasText: '12 files' }).waitFor();
    const files = page.getByRole('navigation', { name: 'Changed files' });
    await files.getByTitle('src/parser.ts', { exact: true }).click();
    await page.getByText('Tabs and newlines separate words, too.').first().waitFor();
    await page.locator('.diff-row .hl-comment, .diff-row .hl-keyword').first().waitFor();
    expect(await offered(page)).toEqual([]);
    await go(page, '/t/words/task/1?part=diff');
    await page.getByRole('dialog').getByText('As it landed on the branch').waitFor();
    await page.getByRole('dialog').getByText('two of ann').first().waitFor();
    await page.getByRole('dialog').getByText('This file is large. Its lines are not in this record.').waitFor();
    await go(page, '/t/words/m/ann?tab=inbox');
    await page.getByText('</script><script>globalThis.ran=1</script>').first().waitFor();
    await page.getByText('key [redacted]').waitFor();
    expect(await page.getByRole('tab', { name: 'Transcript' }).count()).toBe(0);
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expect(await page.content()).not.toContain(SECRET);
    expect(faults).toEqual([]);
  });

  test('has transcripts only with --transcripts, and no secret in them', async (context) => {
    needTool(context, 'chromium');
    const { page, faults } = await openFile(browser(), await exported('words', '--transcripts'), '#/t/words/m/ann');
    await page.getByRole('log').getByText('The key is [redacted], I keep it.').waitFor();
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expect(faults).toEqual([]);
  });
});

describe('troupe export', () => {
  test('replaces a file only with --force, writes to standard output, and says what it wrote', async (context) => {
    needTool(context, 'chromium');
    const file = await exported('story');
    const refused = await troupe('export', 'story', file);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(`${file} exists already: choose another name, or replace it with --force`);
    const forced = await troupe('export', 'story', file, '--force', '--json');
    expect(JSON.parse(forced.stdout)).toMatchObject({
      team: 'story',
      file,
      bytes: readFileSync(file).length,
      tasks: 24,
      transcripts: false,
      filesLeftOut: 0,
    });
    const piped = await troupe('export', 'story', '-');
    expect(piped.stdout).toMatch(/^<!doctype html>[^]*<\/html>\n$/);
    const absent = await troupe('export', 'nobody', join(temporaryFolder(), 'nobody.html'));
    expect(absent.stderr).toContain('nobody');
    expect(absent.code).not.toBe(0);
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needTool } from '../tools.ts';
import { plainGit } from '../workspaces/project.ts';
import { eventually, expectQuiet, follow } from './browser.ts';
import type { usePage } from './browser.ts';
import { scan } from './scan.ts';
import type { Stage } from './stage.ts';

/** What a person does with work that landed: reads it on the sheet of its task, and merges it. */
export function describeTaking(team: string, stage: () => Stage, open: ReturnType<typeof usePage>): void {
  describe('work that landed', () => {
    test('is read on the sheet of its task: the files, then their lines, large ones on request', async (context) => {
      needTool(context, 'chromium');
      const watched = await open(`/t/${team}/task/1?view=list`);
      const { page } = watched;
      const sheet = page.getByRole('dialog', { name: /^Task 1/ });
      const files = sheet.locator('.work-files');
      await files.getByText('4 more').waitFor();
      await files.getByRole('button', { name: 'common.txt' }).click();
      await eventually(() => sheet.locator('.diff-row.is-top .diff-path').innerText()).toBe('common.txt');
      await sheet.locator('.is-added').getByText('two of ann').waitFor();
      await sheet.getByRole('button', { name: 'of 12 files' }).click();
      const list = sheet.getByRole('navigation', { name: 'Changed files' });
      await list.getByTitle('huge.txt', { exact: true }).click();
      await eventually(() => sheet.locator('.diff-row.is-top .diff-path').innerText()).toBe('huge.txt');
      expect(await sheet.getByText('y'.repeat(79)).count()).toBe(0);
      expect(await scan(page, { include: ['.sheet'], exclude: ['.diff-row:nth-child(n + 12)'] })).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await page.setViewportSize({ width: 390, height: 844 });
      await sheet.locator('.diff-list-button').waitFor();
      const isTooWide = `[...document.querySelectorAll('.sheet, .diff-scroll')].some((box) => box.scrollWidth > box.clientWidth)`;
      expect(await page.evaluate(isTooWide)).toBe(false);
      await page.keyboard.press('Escape');
      await eventually(() => sheet.count()).toBe(0);
      expect(page.url()).not.toMatch(/part=|file=/);
      expectQuiet(watched);
    });

    test('is merged from the page as troupe merge does it, or nothing is changed', async (context) => {
      needTool(context, 'chromium');
      const { client, home } = stage();
      const repository = join(home.directory, `project-of-${team}`);
      const file = join(repository, 'common.txt');
      const before = plainGit(repository, 'rev-parse', 'HEAD');
      const watched = await open(`/t/${team}?view=list`);
      const { page } = watched;
      await page.getByRole('button', { name: 'Team actions' }).click();
      await page.getByRole('menuitem', { name: 'Merge the branch…' }).click();
      const form = page.getByRole('dialog', { name: 'Merge the branch' });
      const merge = form.getByRole('button', { name: 'Merge', exact: true });
      await form.getByText(`troupe/${team} into main, which is checked out in ${repository}`).waitFor();
      // Git refuses to overwrite what is not committed.
      const content = readFileSync(file, 'utf8');
      writeFileSync(file, 'mine\n');
      await merge.click();
      await form.getByText('your files are as they were').waitFor();
      expect(readFileSync(file, 'utf8')).toBe('mine\n');
      expect(plainGit(repository, 'rev-parse', 'HEAD')).toBe(before);
      writeFileSync(file, content);
      await merge.click();
      await page.getByText(`Merged troupe/${team} into main`).waitFor();
      const { tip } = await client.call('work.show', { teamId: team });
      expect(plainGit(repository, 'rev-parse', 'HEAD')).toBe(tip);
      expect(readFileSync(file, 'utf8')).toContain('two of ann');
      // There is nothing more to merge.
      await follow(page, `/t/${team}/diff`);
      await page.getByRole('button', { name: 'Merge…' }).click();
      await form.getByText(`main has all of troupe/${team} already`).waitFor();
      expect(await merge.isDisabled()).toBe(true);
      expectQuiet(watched);
    });
  });
}

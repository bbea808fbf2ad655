import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { needTool } from '../tools.ts';
import { until } from '../until.ts';
import { write } from '../workspaces/project.ts';
import { eventually, expectQuiet, follow } from './browser.ts';
import type { Watched } from './browser.ts';
import { scan } from './scan.ts';
import type { Stage } from './stage.ts';
import { begin } from './work-team.ts';

const NOTES = 'review/notes.md';
const SCRIPT = 'scripts/run.sh';

const barOf = (page: Page) => page.getByRole('region', { name: 'Review' });
const commentsOf = (page: Page) => barOf(page).getByRole('list', { name: 'Comments' }).getByRole('listitem');
const boxOf = (page: Page, line: string) => page.getByRole('textbox', { name: `Comment on ${line}`, exact: true });
const buttonOf = (page: Page, line: string) => page.getByRole('button', { name: `Comment on ${line}`, exact: true });

/** Hands in the work of kim and waits until a person is asked about it. The verdict follows the answer. */
async function handIn(client: Client, teamId: string, taskId: string, before?: string) {
  const verdict = client.call('task.complete', { teamId, taskId, result: 'Reworded.' }, { as: 'kim' }).then(
    () => 'landed',
    (error: unknown) => (error as Error).message,
  );
  const commit = await until('a person is asked about the work', async () => {
    const { work } = await client.call('task.show', { teamId, taskId });
    return work?.state === 'asked' && work.commit !== before ? work.commit : undefined;
  });
  // In an object: a promise would be waited for.
  return { commit, verdict };
}

async function expectNoFaults(page: Page): Promise<void> {
  expect(await scan(page, { include: ['.review-bar', '.diff-scroll'] })).toEqual([]);
}

/** Comments on the lines of a work that waits for its approval, in the page of its diff. */
export function describeReview(teamId: string, stage: () => Stage, open: (path: string) => Promise<Watched>): void {
  describe('comments on lines', () => {
    test('are written with mouse and keys in both layouts, survive news and a reload, and go with one no', async (context) => {
      needTool(context, 'chromium');
      const { client } = stage();
      const { taskId, folder } = await begin(client, teamId, 'kim', 'Reword the pages');
      write(folder, {
        [NOTES]: '# Notes\n\nFirst.\nSecond.\n',
        [SCRIPT]: '#!/bin/sh\necho go\necho end\n',
      });
      const first = await handIn(client, teamId, taskId);
      const watched = await open(`/t/${teamId}/diff/${taskId}`);
      const { page } = watched;

      await follow(page, `/t/${teamId}?view=board`);
      const queue = page.getByRole('region', { name: 'Merge queue' }).getByRole('list', { name: 'To approve' });
      await queue.getByText(/^waits for a person to approve it, /).waitFor();
      await page.locator('.card', { hasText: 'Reword the pages' }).getByText('waits for a person').waitFor();
      await queue.getByRole('link', { name: 'Reword the pages' }).click();

      // With the mouse, side by side: a line that the work removed.
      await buttonOf(page, `removed line 2 of ${SCRIPT}`).click();
      await eventually(() => boxOf(page, `${SCRIPT}:2 (removed)`).evaluate((box) => box.matches(':focus'))).toBe(true);
      await page.keyboard.type('Why not run?');
      await page.getByRole('button', { name: 'Keep comment' }).click();
      await eventually(() => commentsOf(page).count()).toBe(1);
      // With keys: the next line on the other side, then down, unified.
      await eventually(() =>
        buttonOf(page, `removed line 2 of ${SCRIPT}`).evaluate((one) => one.matches(':focus')),
      ).toBe(true);
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowDown');
      await eventually(() => buttonOf(page, `line 3 of ${SCRIPT}`).evaluate((one) => one.matches(':focus'))).toBe(true);
      await page.getByRole('button', { name: 'Unified' }).click();
      await page.keyboard.press('c');
      await eventually(() => page.locator('.diff-comment-on:focus').count()).toBe(1);
      await buttonOf(page, `line 3 of ${NOTES}`).focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await boxOf(page, `${NOTES}:4`).waitFor();
      await page.keyboard.type('Say which.');
      await page.keyboard.press('Control+Enter');
      await eventually(() => commentsOf(page).count()).toBe(2);
      // A third one is still being written when the team goes on, and when the page is loaded again.
      await buttonOf(page, `line 1 of ${NOTES}`).click();
      await page.keyboard.type('Half a th');
      await client.call('message.send', { teamId, toId: 'kim', content: 'News.' });
      await client.call('task.create', { teamId, title: 'Something else' });
      await page.keyboard.type('ought');
      await page.reload();
      await eventually(() => boxOf(page, `${NOTES}:1`).inputValue()).toBe('Half a thought');
      await eventually(() => commentsOf(page).allInnerTexts()).toEqual([
        expect.stringMatching(/run\.sh:2 \(removed\)\s+Why not run\?/),
        expect.stringMatching(/notes\.md:4\s+Say which\./),
        expect.stringMatching(/notes\.md:1\s+Half a thought/),
      ]);
      await page.locator('.diff-comment', { hasText: 'Why not run?' }).waitFor();
      await expectNoFaults(page);
      await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await expectNoFaults(page);
      await page.setViewportSize({ width: 1440, height: 900 });

      // One is removed. A yes warns; the no takes the others along.
      await barOf(page)
        .getByRole('button', { name: `Remove the comment on ${NOTES}:4` })
        .click();
      await eventually(() => commentsOf(page).count()).toBe(2);
      await barOf(page).getByRole('button', { name: 'Let it land' }).click();
      await barOf(page).getByRole('alert').getByText('A yes sends no comments: your 2 are dropped.').waitFor();
      await barOf(page).getByRole('button', { name: 'Cancel' }).click();
      await barOf(page).getByRole('button', { name: 'Send back…' }).click();
      await page.keyboard.type('Almost there.');
      await barOf(page).getByRole('button', { name: 'Send back with 2 comments' }).click();
      expect(await first.verdict).toBe(
        `A person reviewed commit ${first.commit.slice(0, 7)} and sends it back.\nAlmost there.\n\n` +
          `${SCRIPT}:2 (removed): Why not run?\n${NOTES}:1: Half a thought`,
      );
      await eventually(() => barOf(page).count()).toBe(0);
      await eventually(() =>
        page.evaluate(`Object.keys(sessionStorage).filter((key) => key.startsWith('review'))`),
      ).toEqual([]);
      expectQuiet(watched);

      // Of the next try, comments are gone when yet another commit comes, and the person is told.
      write(folder, { [SCRIPT]: '#!/bin/sh\necho GO\necho end\n' });
      const second = await handIn(client, teamId, taskId);
      await barOf(page)
        .getByText(`commit ${second.commit.slice(0, 7)} waits for your answer`)
        .waitFor();
      await barOf(page).getByRole('button', { name: 'Show it' }).click();
      await buttonOf(page, `line 2 of ${SCRIPT}`).click();
      await page.keyboard.type('Do not shout.');
      await client.call('task.release', { teamId, taskId, reason: 'once more' });
      await barOf(page)
        .getByText(`Your comment was about commit ${second.commit.slice(0, 7)}`)
        .waitFor();
      expect(await boxOf(page, `${SCRIPT}:2`).count()).toBe(0);
      await barOf(page).getByRole('button', { name: 'OK' }).click();
      const { epoch = 0 } = (await client.call('task.claim', { teamId, taskId }, { as: 'kim' })) ?? {};
      await client.call('work.open', { teamId, memberId: 'kim' });
      await client.call('work.begin', { teamId, memberId: 'kim', taskId, epoch }, { as: 'kim' });
      write(folder, { [NOTES]: '# Notes\n\nThird.\n' });
      const third = await handIn(client, teamId, taskId, second.commit);
      await barOf(page).getByRole('button', { name: 'Show it' }).click();
      await barOf(page).getByRole('button', { name: 'Let it land' }).click();
      expect(await third.verdict).toBe('landed');
      expectQuiet(watched);
    });
  });
}

import { expect, test } from 'vitest';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import { findOperation } from '../../src/operations/index.ts';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, openPage, useBrowser } from './browser.ts';
import { writePast } from './home-ledger.ts';
import { loadPart } from './part.ts';
import { useStage } from './stage.ts';

const { ANSWER_ADDRESSES } = await loadPart<{ ANSWER_ADDRESSES: Readonly<Record<string, string>> }>(
  'ui/data/answer-addresses.ts',
);

const TEAM = 'closing';
const browser = useBrowser();
const stage = useStage((home) =>
  writePast(home, TEAM, [
    { type: 'team.create', by: '@user', ...CreateTeamInput.parse({ name: TEAM }) },
    { type: 'member.join', by: 'lead', ...JoinInput.parse({ name: 'ada' }) },
    ...['npm test', 'npm publish'].map(
      (content) => ({ type: 'request.raise', by: 'ada', kind: 'permission', memberId: 'ada', content }) as const,
    ),
  ]),
);

/** Runs in the page: an answer is held for ever, so only the end of the page can send it. */
const HOLD = `const begin = globalThis.setTimeout;
globalThis.setTimeout = (work, ms, ...more) => (ms === 4000 ? -1 : begin(work, ms, ...more));`;

test('the addresses that a page uses at its end are those of the operations', () => {
  for (const [name, address] of Object.entries(ANSWER_ADDRESSES)) {
    expect(findOperation(name)?.route).toBe(`POST ${address}`);
  }
});

test('an answer that is still held is sent when its tab is closed or loaded again, and asks nobody to stay', async (context) => {
  needTool(context, 'chromium');
  const { client } = stage();
  const statuses = async () => (await client.call('request.list', { teamId: TEAM })).map(({ status }) => status);
  const watched = await openPage(browser(), client, `/t/${TEAM}`, { script: HOLD });
  const { page } = watched;
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.type());
    void dialog.accept();
  });
  const card = page.locator('.request').first();
  const answer = async (name: string): Promise<void> => {
    await card.getByRole('button', { name, exact: true }).and(page.locator(':enabled')).click();
    await card.getByRole('button', { name: 'Undo' }).waitFor();
  };
  await answer('Allow');
  expect(await statuses()).toEqual(['pending', 'pending']);
  await page.reload();
  await eventually(statuses).toEqual(['approved', 'pending']);
  await card.getByText('npm publish').waitFor();
  await answer('Allow');
  const isClosed = page.waitForEvent('close');
  await page.close({ runBeforeUnload: true });
  await isClosed;
  await eventually(statuses).toEqual(['approved', 'approved']);
  expect(dialogs).toEqual([]);
  expectQuiet(watched);
});

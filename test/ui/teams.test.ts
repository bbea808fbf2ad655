import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { Home } from '../../src/client/home.ts';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, follow, openPage, pressInRow, useBrowser, usePage } from './browser.ts';
import { writeNativeTeam } from './native-team.ts';
import { writeSmallTeams } from './small-teams.ts';
import { nativeRoot, setStage, useStage } from './stage.ts';

const browser = useBrowser();
/** For tests that do not mind what other tests have added. */
const stage = useStage(async (home) => {
  await writeSmallTeams(home);
  writeNativeTeam(nativeRoot(home));
});
const open = usePage(browser, stage);

/** Makes the journal of the last team that was written unreadable, as a damaged disk would. */
function damageLastTeam(home: Home): void {
  const database = new DatabaseSync(home.journal);
  database.exec('UPDATE batches SET sum = sum + 1 WHERE id = (SELECT max(id) FROM batches)');
  database.close();
}

describe('the page of all teams', () => {
  test('lists teams by activity, finds one by text, keeps closed ones readable, and makes a new one by keys', async (context) => {
    needTool(context, 'chromium');
    const { client } = stage();
    const watched = await open();
    const { page } = watched;
    const names = page.locator('table[aria-label="Open teams"] .teams-name a');
    await eventually(() => names.allInnerTexts()).toEqual(['docs-site', 'fix-login']);
    const closed = page.getByRole('table', { name: 'Closed teams' });
    await closed.getByText('Closed', { exact: true }).waitFor();
    // Progress, members, tokens, cost, last activity.
    expect(await closed.locator('tbody tr').innerText()).toMatch(/3 of 3\s+2\s+115k\s+\$0\.63\s+1 d ago/);
    await page.keyboard.press('/');
    await page.keyboard.type('proxy');
    await eventually(() => names.allInnerTexts()).toEqual(['fix-login']);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('nothing like it');
    await page.getByText('No team is called “nothing like it”').waitFor();
    await page.getByRole('button', { name: 'Clear' }).press('Enter');
    await closed.getByRole('link', { name: 'release-1-4' }).click();
    await page.locator('.team-head').getByText('Closed').waitFor();
    expect(await page.getByRole('button', { name: 'New task' }).isDisabled()).toBe(true);

    await pressInRow(page, 'g', 't');
    await names.first().waitFor();
    await page.keyboard.press('n');
    const form = page.getByRole('dialog', { name: 'New team' });
    await form.getByLabel('Name').fill('Not a slug');
    await page.keyboard.press('Enter');
    await form
      .getByRole('alert')
      .getByText(/; try "/)
      .waitFor();
    await form.getByLabel('Name').fill('brand-new');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'brand-new' }).waitFor();
    expect((await client.call('team.show', { teamId: 'brand-new' })).status).toBe('active');
    expectQuiet(watched);
  });

  test('says why a team cannot be read, and what to do', async (context) => {
    needTool(context, 'chromium');
    const { client } = await setStage(async (home) => {
      await writeSmallTeams(home);
      damageLastTeam(home);
    });
    const broken = (await client.call('team.list', {})).find(({ problem }) => problem !== undefined);
    const watched = await openPage(browser(), client);
    const { page } = watched;
    const card = page.getByRole('article', { name: `Team ${broken?.name} cannot be read` });
    await card.getByText(broken?.problem ?? '').waitFor();
    expect(
      await page
        .getByRole('table', { name: 'Closed teams' })
        .getByText(broken?.name ?? '')
        .count(),
    ).toBe(0);
    await card.getByRole('link').click();
    await page.getByRole('heading', { name: `Team ${broken?.name} cannot be shown` }).waitFor();
    await page.getByText(/Restore/).waitFor();
    // Every page of the team says so, instead of showing wrong figures.
    for (const path of ['/numbers', '/m/ines']) {
      await follow(page, '/');
      await card.waitFor();
      await follow(page, `/t/${broken?.name}${path}`);
      await page.getByRole('heading', { name: `Team ${broken?.name} cannot be shown` }).waitFor();
    }
    expectQuiet(watched);
  });

  test("shows Claude Code's own teams as their files change, and joins one", async (context) => {
    needTool(context, 'chromium');
    const { home } = stage();
    const watched = await open();
    const { page } = watched;
    const own = page.getByRole('table', { name: 'Claude Code’s own teams' });
    await own.getByText('Sessions end while people still work.').waitFor();
    expect(await own.locator('tbody tr').first().innerText()).toMatch(/2 of 5\s+3\s+2/);
    writeNativeTeam(nativeRoot(home), 'another');
    await own.getByRole('link', { name: 'another' }).waitFor();
    // A team that Troupe does not write to says so, and cannot be joined.
    writeNativeTeam(nativeRoot(home), 'équipe');
    const odd = own.locator('tr', { hasText: 'équipe' });
    await odd.getByText('read-only').waitFor();
    await odd.getByText('the name of its directory').waitFor();
    await odd.getByRole('link').click();
    await page.getByText('It is read-only: the name of its directory').waitFor();
    expect(await page.getByRole('button', { name: 'Join' }).count()).toBe(0);
    await page.goBack();
    await own.getByRole('link', { name: 'session-bugs' }).click();
    await page.getByRole('region', { name: 'Tasks' }).getByText('Write the failing test').waitFor();
    await page.getByRole('region', { name: 'Members' }).getByText('Team Lead').waitFor();
    await page.getByRole('region', { name: 'Messages' }).locator('strong').getByText('two').waitFor();
    // Its address works after a reload, too.
    await page.reload();
    await page.getByRole('button', { name: 'Join…' }).click();
    // What would change is shown first: the tasks here, and the file that gets a mark.
    await page.getByRole('list', { name: 'Changes here' }).getByText('Write the failing test').waitFor();
    const written = page.getByRole('list', { name: 'Files that are written' });
    await written.getByText('teams/session-bugs/config.json').waitFor();
    expect(await written.innerText()).not.toMatch(/status:|owner:/);
    await page.getByRole('button', { name: 'Join', exact: true }).click();
    await page.locator('.team-count').getByText('of 5').waitFor();
    await pressInRow(page, 'g', 't');
    await page.getByText('joined as session-bugs').waitFor();
    expectQuiet(watched);
  });
});

// Writes docs/images/example-*.png: runs the teams of examples/, and takes a picture of each on the dashboard.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { environmentIn, makeRepository, TROUPE } from '../examples/repository.ts';
import { Client } from '../src/client/client.ts';
import { homeAt } from '../src/client/home.ts';
import { socketConnect } from '../src/client/socket.ts';
import { startDaemon } from '../src/daemon.ts';
import { launchBrowser } from '../test/ui/launch.ts';

const IMAGES = join(dirname(import.meta.dirname), 'docs/images');

/** The page of each example that shows best what it is about. */
const PAGES: Readonly<Record<string, { readonly path: string; readonly ready: string }>> = {
  review: { path: '/t/review', ready: '.graph[data-nodes="4"] .node' },
  feature: { path: '/t/feature/diff', ready: '.diff-line, .diff-pair' },
  migration: { path: '/t/migration?view=members', ready: 'main' },
  docs: { path: '/t/docs/task/1?view=list', ready: '.sheet-title' },
  'bug-hunt': { path: '/t/bug-hunt?view=board', ready: '.card' },
};

const place = mkdtempSync(join(tmpdir(), 'troupe-shots-'));
const home = homeAt(join(place, 'home'));
mkdirSync(home.directory, { mode: 0o700 });
const env = { ...environmentIn(place), TROUPE_HOME: home.directory };
spawnSync(process.execPath, [TROUPE, 'status'], { env, stdio: 'ignore' });
for (const example of Object.keys(PAGES)) {
  const repo = makeRepository(example, place, env);
  const { status } = spawnSync(process.execPath, [TROUPE, 'up', '--yes'], { cwd: repo, env, stdio: 'ignore' });
  if (status !== 0) throw new Error(`The team of ${example} ended with ${status}`);
}
// Another daemon shows what the first one did: it runs in this process, and ends with it.
spawnSync(process.execPath, [TROUPE, 'stop'], { env, stdio: 'ignore' });
const daemon = await startDaemon({ home, environment: {} });
const client = new Client(socketConnect({ path: home.socket, token: { file: home.tokenFile } }));
const browser = await launchBrowser();
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({
      viewport: { width: 1120, height: 560 },
      colorScheme,
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    await page.goto((await client.call('ui.login', {})).url);
    await page.locator('.teams').first().waitFor();
    for (const [example, { path, ready }] of Object.entries(PAGES)) {
      await page.goto(daemon.url + path);
      await page.locator(ready).first().waitFor();
      await page.evaluate('document.fonts.ready');
      // The graph scrolls after its layout was measured.
      await page.waitForTimeout(1_000);
      await page.screenshot({ path: join(IMAGES, `example-${example}-${colorScheme}.png`) });
      console.log(`docs/images/example-${example}-${colorScheme}.png`);
    }
    await context.close();
  }
} finally {
  await browser.close();
  client.close();
  await daemon.close();
  rmSync(place, { recursive: true, force: true });
}

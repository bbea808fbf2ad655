import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { isProof } from '../proof.ts';
import { needTool } from '../tools.ts';
import { launchLightBrowser } from '../ui/launch.ts';
import { HANG_MS } from '../until.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';

/** A name that resolves to this machine, as after DNS rebinding by an attacker. */
const REBOUND = 'rebound.example';

/** By which names a browser on this machine reaches the daemon. */
const NAMES = ['127.0.0.1', 'localhost', '0.0.0.0', REBOUND] as const;

/**
 * Where the attacker's page is, and under which names it attacks the daemon: under its own and under another, and under each at least
 * once. `npm run proof` takes all pairs. For a browser, the first page is the same site as ours, so it sends our cookie.
 */
const ATTACKS = {
  '127.0.0.1': ['127.0.0.1', '0.0.0.0'],
  localhost: ['localhost', '127.0.0.1'],
  [REBOUND]: [REBOUND, '127.0.0.1'],
} as const;

async function openBrowser(): Promise<Browser> {
  const browser = await launchLightBrowser(
    '--disable-quic',
    '--disable-component-update',
    '--disable-sync',
    `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`,
    // We must not rely on these checks: other browsers do not have them.
    '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessChecks',
  );
  onTestFinished(() => browser.close());
  return browser;
}

const PAGES = join(import.meta.dirname, 'pages');

/** The attacker's web server. */
async function openStranger(): Promise<number> {
  const script = readFileSync(join(PAGES, 'attack.js'));
  const server = createServer(({ url }, response) => {
    if (url === '/attack.js') response.setHeader('content-type', 'text/javascript').end(script);
    else response.setHeader('content-type', 'text/html').end('<!doctype html><body><script src="/attack.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Logs the person in, as the dashboard does, and checks that our own page can then do everything. */
async function logIn(context: BrowserContext, { act, url }: Stage): Promise<Page> {
  const { hash } = new URL((await act('ui.login', {})).url);
  const page = await context.newPage();
  await page.goto(url);
  const script = readFileSync(join(PAGES, 'dashboard.js'), 'utf8');
  const outcome: unknown = await page.evaluate(`${script}; useDashboard("${hash.slice('#code='.length)}")`);
  expect(outcome).toEqual({
    login: 200,
    read: 200,
    write: 200,
    answer: '{"type":"pong","id":1}',
    event: expect.stringMatching(/^1\.\w+$/) as string,
    cookie: '',
  });
  return page;
}

function attack(page: Page, target: string): Promise<unknown> {
  return page.evaluate(`attack(${JSON.stringify(target)})`);
}

test('a page of another origin cannot control or read the daemon, even if a person is logged in', async (context) => {
  needTool(context, 'chromium');
  const stage = await setStage({
    limits: { authDelayMs: 0, requestBurst: 1e6 },
    mcp: async () => new Response('{}'),
    metrics: () => 'secret 1',
  });
  const program = await openBrowser();
  const browser = await program.newContext();
  browser.setDefaultTimeout(HANG_MS);
  const ours = await logIn(browser, stage);
  const strangerPort = await openStranger();
  const before = await stage.ends();
  const refusedBefore = stage.hub.counters.rejected;
  const port = stage.port;
  for (const [host, names] of Object.entries(ATTACKS)) {
    const page = await browser.newPage();
    for (const name of isProof ? NAMES : names) {
      const target = `http://${name}:${port}`;
      await page.goto(`http://${host}:${strangerPort}/`);
      expect({ host, target, spoils: await attack(page, target) }).toEqual({ host, target, spoils: [] });
    }
    await page.close();
  }
  expect(await stage.ends()).toEqual(before);
  expect(stage.hub.counters.rejected - refusedBefore).toBeGreaterThan(200);

  // For the browser, a page under the rebound name is the daemon's own; the daemon refuses it. The answer's CSP is
  // bypassed, because it must not be the only protection.
  const rebound = await (await program.newContext({ bypassCSP: true })).newPage();
  rebound.setDefaultTimeout(HANG_MS);
  const answer = await rebound.goto(`http://${REBOUND}:${port}/`);
  expect(answer?.status()).toBe(403);
  await rebound.evaluate(readFileSync(join(PAGES, 'attack.js'), 'utf8'));
  expect(await attack(rebound, `http://${REBOUND}:${port}`)).toEqual([]);
  expect(await stage.ends()).toEqual(before);

  // Our page cannot be shown in a frame, or reached by the page that opened it.
  const page = await browser.newPage();
  await page.goto(`http://localhost:${strangerPort}/`);
  const shown: unknown = await page.evaluate(`show(${JSON.stringify(stage.url)})`);
  expect(shown).toEqual({ framed: null, cutOff: true });

  expect(await ours.evaluate("fetch('/api/teams').then(({ status }) => status)")).toBe(200);
  expect(stage.errors).toEqual([]);
});

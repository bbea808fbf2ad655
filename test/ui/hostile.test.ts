import { expect, test } from 'vitest';
import { HOSTILE } from '../cli/hostile.ts';
import { needTool } from '../tools.ts';
import { eventually, expectQuiet, follow, openPage, useBrowser } from './browser.ts';
import { setStage, useDashboard } from './stage.ts';

useDashboard();
const browser = useBrowser();

/** Texts that try to run in a page, or to break it. */
const MARKUP: readonly string[] = [
  '<img src=x onerror="globalThis.ran=1">',
  '<script>globalThis.ran=1</script>',
  '<svg onload="globalThis.ran=1"><animate onbegin="globalThis.ran=1">',
  '[click](javascript:globalThis.ran=1) <a href="javascript:globalThis.ran=1">x</a>',
  '![x](https://evil.example/pixel.png) <iframe src="https://evil.example">',
  '<div style="position:fixed;inset:0;background:red;z-index:9999">all mine</div>',
  '`" onmouseover="globalThis.ran=1`',
  '</title></textarea></script><script>globalThis.ran=1</script>',
  '{{constructor.constructor("globalThis.ran=1")()}} ${globalThis.ran=1}',
  '| a | b |\n|---|---|\n| <img src=x onerror=globalThis.ran=1> | `x` |',
  `${'W'.repeat(300)} ${'﷽'.repeat(40)}`,
  `\u202e${'right to left '.repeat(8)}`,
  'Z\u0351\u0301\u0302\u0303'.repeat(60),
  '# '.repeat(50),
  '[[[[[[[['.repeat(40),
  '__proto__',
];

test('text of agents is shown as text: nothing runs, nothing is fetched, nothing leaves its place', async (context) => {
  needTool(context, 'chromium');
  const { client } = await setStage();
  const teamId = 'demo';
  const corpus = [...MARKUP, ...HOSTILE].map((text) => text.slice(0, 480));
  const line = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ');
  await client.call('team.create', { name: teamId, description: corpus.join('\n') });
  await client.call('member.add', { teamId, name: 'ada', role: line(MARKUP[0] ?? ''), model: line(MARKUP[1] ?? '') });
  await client.call('member.add', {
    teamId,
    name: `a${'-very-long-name'.repeat(4)}`,
    role: line(MARKUP[10] ?? '').slice(0, 400),
  });
  for (const text of corpus) {
    const { id } = await client.call('task.create', { teamId, title: line(text), description: text });
    await client.call('message.send', { teamId, toId: 'ada', content: text }).catch(() => undefined);
    if (Number(id) % 3 === 0) {
      await client.call('task.claim', { teamId, taskId: id }, { as: 'ada' });
      await client.call('task.complete', { teamId, taskId: id, result: text }, { as: 'ada' });
    } else if (Number(id) % 3 === 1 && Number(id) < 9) {
      await client.call('request.raise', { teamId, kind: 'permission', memberId: 'ada', content: text }, { as: 'ada' });
    }
  }
  const long = Array.from({ length: 9 }, (_, i) => `echo ${i}`).join('\n');
  for (const content of ['npm test # \u202egnihton\nrm\u200b -rf \u{e0062}build', long]) {
    await client.call('request.raise', { teamId, kind: 'permission', memberId: 'ada', content }, { as: 'ada' });
  }
  const watched = await openPage(browser(), client, `/t/${teamId}`);
  const { page } = watched;
  const strangers: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(page.url()).origin)) strangers.push(request.url());
  });
  /** Checks that nothing ran or covers the page, no bidi or invisible character is left, and it fits the window. */
  const check = async (where: string): Promise<void> => {
    const found = await page.evaluate(`({
      ran: globalThis.ran,
      scripts: document.querySelectorAll('#root script, #root iframe, #root img').length,
      wide: document.documentElement.scrollWidth - innerWidth,
      covered: !document.querySelector('#root').contains(document.elementFromPoint(innerWidth / 2, innerHeight / 2)),
      turned: /[\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]/.test(document.querySelector('main').innerText),
      fixed: [...document.querySelectorAll('#root *')].filter((one) => one.style.position === 'fixed').length,
    })`);
    expect({ where, ...(found as object) }).toEqual({
      where,
      ran: undefined,
      scripts: 0,
      wide: 0,
      covered: false,
      turned: false,
      fixed: 0,
    });
  };
  await page.locator(`.graph[data-nodes="${corpus.length}"]`).waitFor();
  await check('graph');
  for (const [key, view] of [
    ['2', '.board'],
    ['3', '.list'],
  ] as const) {
    await page.keyboard.press(key);
    await page.locator(view).waitFor();
    await check(view);
  }
  for (const id of [1, 3, 6, 10, 11]) {
    await follow(page, `/t/${teamId}/task/${id}?view=list`);
    await page
      .getByRole('dialog', { name: `Task ${id}:` })
      .locator('.sheet-title')
      .waitFor();
    await check(`task ${id}`);
  }
  await follow(page, `/t/${teamId}/m/ada?tab=inbox`);
  await page.locator('.message').first().waitFor();
  for (let i = 0; i < 12; i++) await page.mouse.wheel(0, 900);
  await check('inbox');
  // Beside the Allow button stands the whole command as it would run. If it does not fit, there is no button.
  const spoof = page.locator('.member-waits .request', { hasText: 'npm test' });
  expect(await spoof.locator('.code').innerText()).toBe('npm test # [U+202E]gnihton\nrm[U+200B] -rf [U+E0062]build');
  await spoof.getByRole('button', { name: 'Allow' }).waitFor();
  const cut = page.locator('.member-waits .request', { hasText: 'echo 8' });
  await cut.getByRole('link', { name: 'Read all of it, then answer' }).waitFor();
  expect(await cut.locator('[data-answer]').count()).toBe(0);
  await follow(page, '/queue');
  await page.locator('.queue-detail').waitFor();
  await eventually(() => page.locator('.queue-line').count()).toBeGreaterThan(1);
  await check('queue');
  await follow(page, '/');
  await page.locator('.teams').first().waitFor();
  await check('teams');
  expect(strangers).toEqual([]);
  expectQuiet(watched);
});

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { findWrongCommands } from '../../scripts/docs/commands.ts';
import { readDocument, readDocuments } from '../../scripts/docs/document.ts';
import { findDeadLinks } from '../../scripts/docs/links.ts';
import { writeSite } from '../../scripts/docs/site.ts';
import { launchLightBrowser } from '../ui/launch.ts';

const ROOT = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
const documents = readDocuments(ROOT);

describe('the documents', () => {
  test('link to files, images and headings that exist', () => {
    expect(documents.length).toBeGreaterThan(20);
    expect(findDeadLinks(documents, ROOT)).toEqual([]);
  });

  test('name commands and flags that exist', () => {
    expect(findWrongCommands(documents, Object.keys(scripts))).toEqual([]);
  });
});

describe('the check of links', () => {
  const deadIn = (text: string): string[] => findDeadLinks([readDocument('docs/page.md', text)], ROOT);

  test.each([
    ['[x](nowhere.md)', 'docs/page.md: nowhere.md leads to a file that does not exist'],
    ['![x](images/nowhere.png)', 'docs/page.md: images/nowhere.png leads to a file that does not exist'],
    ['| a |\n|---|\n| [x](../NOWHERE.md) |', 'docs/page.md: ../NOWHERE.md leads to a file that does not exist'],
    ['# One\n[x](#two)', 'docs/page.md: #two leads to a heading that does not exist'],
    ['[x](../../elsewhere.md)', 'docs/page.md: ../../elsewhere.md leads out of the repository'],
    ['[x](javascript:alert)', 'docs/page.md: javascript:alert has a scheme that no page may use'],
    ['[x][name]', 'docs/page.md: [x][name] names a link that is not defined'],
    ['<img src="x">', 'docs/page.md: <img src="x"> is HTML: write Markdown'],
  ])('finds what is wrong with %j', (text, problem) => {
    expect(deadIn(text)).toEqual([problem]);
  });

  test('knows headings as GitHub names them', () => {
    const text = '# A `code`, & more!\n## Twice\n## Twice\n## Größe 1.5';
    expect(deadIn(`${text}\n[1](#a-code--more) [2](#twice-1) [3](#gr%C3%B6%C3%9Fe-15) [4](../README.md)`)).toEqual([]);
  });
});

describe('the check of commands', () => {
  const wrongIn = (text: string): string[] => findWrongCommands([readDocument('a.md', text)], ['test']);

  test.each([
    ['Run `troupe tsak list`.', 'a.md: troupe tsak list: there is no such command'],
    ['Run `troupe task lst`.', 'a.md: troupe task lst: there is no such command'],
    ['Run `troupe up --agian`.', 'a.md: troupe up --agian: it has no flag --agian'],
    ['| `troupe stop --al` |\n|---|', 'a.md: troupe stop --al: it has no flag --al'],
    ['```sh\ncd x && troupe init a b\n```', 'a.md: troupe init a b: it takes at most 1 words'],
    ['```console\n$ troupe up\nnext: troupe mrege\n```', 'a.md: troupe mrege: there is no such command'],
    ['```yaml\ncommand: troupe sned x\n```', 'a.md: troupe sned x: there is no such command'],
    ['`npx troupe@latest rnu "x"`', 'a.md: troupe rnu x: there is no such command'],
    ['`docker run troupe troupe sttus`', 'a.md: troupe sttus: there is no such command'],
    ['`npm run tset`', 'a.md: npm run tset: there is no such script'],
  ])('finds what is wrong with %j', (text, problem) => {
    expect(wrongIn(text)).toEqual([problem]);
  });

  test('takes the words of people, and what only looks like a command', () => {
    const fine = [
      'A sentence about troupe commands. `troupe --help`, `troupe task`, `troupe X`, `troupe task create "x" --json`',
      '`troupe send ada "look at --foo"` `troupe diff [TASK or MEMBER]` `troupe task add …` `troupe/birds x`',
      '```console\n$ troupe up\ntroupe: starting; troupe stop ends it\n```',
      '```lua\ntroupe = function() end\n```',
    ].join('\n\n');
    expect(wrongIn(fine)).toEqual([]);
  });
});

describe('the site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-docs-'));
  const pages = writeSite(documents, ROOT, folder).filter((file) => file.endsWith('.html'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const read = (page: string): string => readFileSync(join(folder, page), 'utf8');

  test('has a page for every document, and every address on it leads to a file and an element', () => {
    expect(pages).toEqual(expect.arrayContaining(['index.html', 'docs/guide.html', 'GLOSSARY.html', 'search.html']));
    const dead = pages.flatMap((page) => {
      const html = read(page);
      const addresses = [...html.matchAll(/<(?:a|img|link) [^>]*?(?:href|src)="([^"]*)"/g)].map(([, to = '']) => to);
      return addresses.filter((address) => {
        if (address.startsWith('https://')) return false;
        const [, file = '', anchor = ''] = /^([^#]*)#?(.*)$/.exec(address) ?? [];
        const target = file === '' ? page : posix.join(posix.dirname(page), file);
        return !existsSync(join(folder, target)) || (anchor !== '' && !read(target).includes(` id="${anchor}"`));
      });
    });
    expect(dead).toEqual([]);
  });

  test('lets no page load or run anything that it was not written with', () => {
    for (const page of pages) {
      const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(read(page)) ?? [];
      expect(policy, page).toMatch(
        /^default-src 'none'; img-src 'self'; style-src 'sha256-\S+'; script-src( 'sha256-\S+')+; /,
      );
      expect(policy).not.toContain('unsafe');
    }
  });

  test('opens from a disk, searches, and is readable on a phone in light and dark', async () => {
    const browser = await launchLightBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    const show = (file: string) => page.goto(pathToFileURL(join(folder, file)).href);
    const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    for (const file of pages) {
      await show(file);
      expect(await page.evaluate('document.documentElement.scrollWidth'), file).toBe(390);
    }
    await show('docs/guide.html');
    expect(await background()).toBe('rgb(16, 19, 23)');
    await page.getByRole('button', { name: /light and dark/ }).click();
    expect(await background()).toBe('rgb(255, 255, 255)');
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Workspaces' }).click();
    await page.waitForURL(/workspaces\.html$/);
    expect(await background()).toBe('rgb(255, 255, 255)');
    await page.keyboard.press('/');
    await page.waitForURL(/search\.html$/);
    await page.getByRole('searchbox').fill('merge queue');
    await page.getByRole('link', { name: 'Workspaces › The merge queue' }).click();
    await page.waitForURL(/workspaces\.html#the-merge-queue$/);
    expect(complaints).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { policyHash } from '../policy-hash.ts';
import type { MarkdownDocument } from './document.ts';
import type { PageGroup } from './page-order.ts';
import { addressOf, escapeHtml, outputOf } from './render.ts';

const STYLE = asset('style.css');
const FIRST = asset('first.js');
const PAGE = asset('page.js');
const SEARCH = [
  readFileSync(join(import.meta.dirname, '../../node_modules/minisearch/dist/umd/index.js'), 'utf8')
    // Its source map is not part of the site.
    .replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'),
  asset('search.js'),
].join('\n');

/** What a page of the site consists of. */
export interface Page {
  /** The file of the site. */
  readonly output: string;
  readonly title: string;
  readonly content: string;
  readonly document?: MarkdownDocument;
}

/** A section that the search finds. */
export interface Section {
  readonly id: number;
  readonly url: string;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

/** A page of the site with its menu. */
export function layOut(page: Page, groups: readonly PageGroup[]): string {
  const { output, title, content, document } = page;
  const order = groups.flatMap(({ pages }) => pages);
  const at = document ? order.indexOf(document) : -1;
  const neighbours = at === -1 ? '' : aroundOf(output, order[at - 1], order[at + 1]);
  return frame({ output, title, groups, current: document }, [
    `<div class="middle"><main id="content">\n${content}${neighbours}</main>${document ? hereOf(document) : ''}</div>`,
  ]);
}

/** The page that searches. It has all texts with it: a page that is opened from a disk may load nothing. */
export function layOutSearch(sections: readonly Section[], groups: readonly PageGroup[]): string {
  // Data, not code: the policy does not concern it. Nothing in it can close the element.
  const data = JSON.stringify(sections).replaceAll('<', '\\u003c');
  return frame({ output: 'search.html', title: 'Search', groups }, [
    `<div class="middle"><main id="content"><h1>Search</h1>
<input id="query" type="search" placeholder="Words to find" aria-label="Words to find" autocomplete="off" spellcheck="false">
<p id="said" role="status"></p><ul id="results"></ul>
<noscript><p>The search needs JavaScript. It sends nothing anywhere.</p></noscript></main></div>`,
    `<script type="application/json" id="sections">${data}</script>`,
    `<script>${SEARCH}</script>`,
  ]);
}

interface Frame {
  readonly output: string;
  readonly title: string;
  readonly groups: readonly PageGroup[];
  readonly current?: MarkdownDocument | undefined;
}

function frame({ output, title, groups, current }: Frame, body: readonly string[]): string {
  const scripts = output === 'search.html' ? [FIRST, PAGE, SEARCH] : [FIRST, PAGE];
  const policy = [
    "default-src 'none'",
    "img-src 'self'",
    `style-src ${policyHash(STYLE)}`,
    `script-src ${scripts.map(policyHash).join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const to = (path: string): string => escapeHtml(addressOf(output, path));
  const name = title === 'Troupe' ? 'Troupe' : `${title} · Troupe`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(name)}</title>
<link rel="icon" href="${to('favicon.svg')}">
<style>${STYLE}</style>
<script>${FIRST}</script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<button class="menu" popovertarget="pages">Menu</button>
<a class="name" href="${to('index.html')}">Troupe</a>
<a class="search" id="search" href="${to('search.html')}">Search <kbd>/</kbd></a>
<button id="theme" aria-label="Switch between light and dark">◐</button>
</header>
<div class="frame">
<nav class="pages" id="pages" aria-label="Pages" popover>
<button class="close" popovertarget="pages" popovertargetaction="hide">Close</button>
${groups.map((group) => menuOf(group, output, current)).join('\n')}
</nav>
${body.join('\n')}
</div>
<script>${PAGE}</script>
</body>
</html>
`;
}

function menuOf({ name, pages }: PageGroup, from: string, current: MarkdownDocument | undefined): string {
  const items = pages.map((page) => {
    const mark = page === current ? ' aria-current="page"' : '';
    return `<li><a href="${escapeHtml(addressOf(from, outputOf(page.path)))}"${mark}>${escapeHtml(shortTitle(page))}</a></li>`;
  });
  return `<h2>${escapeHtml(name)}</h2>\n<ul>${items.join('\n')}</ul>`;
}

/** The README is about the whole project; in a menu it is the page to begin with. */
function shortTitle({ path, title }: MarkdownDocument): string {
  return path === 'README.md' ? 'What it is' : title;
}

function hereOf({ headings }: MarkdownDocument): string {
  const listed = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (listed.length < 2) return '';
  const items = listed.map(
    ({ depth, slug, text }) =>
      `<li${depth === 3 ? ' class="deep"' : ''}><a href="#${escapeHtml(slug)}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="here" aria-label="On this page"><h2>On this page</h2><ul>${items.join('\n')}</ul></nav>`;
}

function aroundOf(from: string, before: MarkdownDocument | undefined, after: MarkdownDocument | undefined): string {
  const link = (page: MarkdownDocument | undefined, kind: string, word: string): string =>
    page
      ? `<a class="${kind}" href="${escapeHtml(addressOf(from, outputOf(page.path)))}"><span>${word}</span>${escapeHtml(shortTitle(page))}</a>`
      : '';
  return `<nav class="around" aria-label="Next pages">${link(before, 'before', 'Before')}${link(after, 'next', 'Next')}</nav>`;
}

function asset(name: string): string {
  return readFileSync(join(import.meta.dirname, 'assets', name), 'utf8');
}

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join, posix } from 'node:path';
import { Marked } from 'marked';
import type { Tokens } from 'marked';
import { plainText } from './document.ts';
import type { MarkdownDocument } from './document.ts';
import { localTarget } from './links.ts';

/** Its own types would bring those of browsers into every file of the project. */
const colours = createRequire(import.meta.url)('highlight.js/lib/common') as {
  getLanguage(name: string): unknown;
  highlight(text: string, options: { language: string }): { value: string };
};

/** The file of the site for a file of the repository. Images stay as they are; all others become pages. */
export function outputOf(path: string): string {
  if (path === 'README.md') return 'index.html';
  if (isImage(path)) return path;
  return path.endsWith('.md') ? path.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html') : `${path}.html`;
}

/** Whether a file is an image. */
export function isImage(path: string): boolean {
  return /\.(png|svg|jpe?g|webp|gif)$/.test(path);
}

/** The address of one file of the site in another one. */
export function addressOf(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to) || posix.basename(to);
}

/** The content of a document as HTML, and which files of the repository it needs. */
export function renderDocument(document: MarkdownDocument, root: string): { html: string; needs: string[] } {
  const needs: string[] = [];
  const from = outputOf(document.path);
  const addressOfTarget = (href: string): string => {
    const target = localTarget(document.path, href, root);
    if (!target) return href;
    needs.push(target.path);
    return addressOf(from, outputOf(target.path)) + (target.anchor === '' ? '' : `#${target.anchor}`);
  };
  let next = 0;
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ depth, tokens }: Tokens.Heading) {
        const { slug = '' } = document.headings[next++] ?? {};
        const anchor = `<a class="anchor" href="#${escapeHtml(slug)}" aria-label="Link to ${escapeHtml(plainText(tokens))}">#</a>`;
        return `<h${depth} id="${escapeHtml(slug)}">${this.parser.parseInline(tokens)}${depth > 1 ? anchor : ''}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const inside = this.parser.parseInline(tokens);
        const isElsewhere = /^https?:/.test(href);
        const more = isElsewhere ? ' rel="noopener noreferrer"' : '';
        return `<a href="${escapeHtml(addressOfTarget(href))}"${more}>${inside}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        const image = (address: string, more: string): string =>
          `<img src="${escapeHtml(address)}" alt="${escapeHtml(text)}" loading="lazy"${more}>`;
        const night = href.replace('-light.png', '-dark.png');
        const hasNight = night !== href && existsSync(join(root, localTarget(document.path, night, root)?.path ?? ''));
        if (!hasNight) return image(addressOfTarget(href), '');
        return image(addressOfTarget(href), ' class="by-day"') + image(addressOfTarget(night), ' class="by-night"');
      },
      code: ({ text, lang }: Tokens.Code) => `${codeBlock(text, lang ?? '')}\n`,
      // Only comments are left: the check of links refuses all other HTML.
      html: () => '',
      table({ header, rows }: Tokens.Table) {
        const row = (cells: readonly Tokens.TableCell[], tag: string): string =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>\n`;
        const body = rows.map((cells) => row(cells, 'td')).join('');
        // A wide table scrolls by itself, also by key.
        return `<div class="table" tabindex="0" role="region" aria-label="Table"><table><thead>${row(header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  return { html: marked.parser(document.tokens), needs };
}

/** A file of the repository as a page: its text with colours. */
export function renderSource(path: string, text: string): string {
  return `<h1>${escapeHtml(path)}</h1>\n${codeBlock(text, extname(path).slice(1))}`;
}

function codeBlock(text: string, language: string): string {
  const isKnown = language !== 'text' && colours.getLanguage(language) !== undefined;
  const inside = isKnown ? colours.highlight(text, { language }).value : escapeHtml(text);
  return `<pre tabindex="0"><code>${inside}</code></pre>`;
}

/** Text as part of a page, also between quotes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

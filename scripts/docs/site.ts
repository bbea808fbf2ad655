import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { plainText } from './document.ts';
import type { MarkdownDocument } from './document.ts';
import { layOut, layOutSearch } from './layout.ts';
import type { Section } from './layout.ts';
import { groupPages } from './page-order.ts';
import { addressOf, isImage, outputOf, renderDocument, renderSource } from './render.ts';

/** Writes the documents as a site: pages that link to each other, and a page that searches them. Returns its files. */
export function writeSite(documents: readonly MarkdownDocument[], root: string, folder: string): string[] {
  const written: string[] = [];
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    written.push(path);
  };
  rmSync(folder, { recursive: true, force: true });
  const groups = groupPages(documents);
  const needed = new Set<string>();
  for (const document of documents) {
    const { html, needs } = renderDocument(document, root);
    for (const path of needs) needed.add(path);
    const output = outputOf(document.path);
    write(output, layOut({ output, title: document.title, content: html, document }, groups));
  }
  for (const path of needed) {
    if (documents.some((document) => document.path === path)) continue;
    const output = outputOf(path);
    if (isImage(path)) {
      cpSync(join(root, path), join(folder, output));
      written.push(output);
      continue;
    }
    const content = renderSource(path, readFileSync(join(root, path), 'utf8'));
    write(output, layOut({ output, title: path, content }, groups));
  }
  write('search.html', layOutSearch(sectionsOf(groups.flatMap(({ pages }) => pages)), groups));
  write('favicon.svg', readFileSync(join(root, 'ui/public/favicon.svg'), 'utf8'));
  // The one library whose code is part of the site.
  write('minisearch-license.txt', readFileSync(join(root, 'node_modules/minisearch/LICENSE.txt'), 'utf8'));
  return written;
}

/** What the search finds: each heading with the text below it. */
function sectionsOf(documents: readonly MarkdownDocument[]): Section[] {
  const sections: Omit<Section, 'id'>[] = [];
  for (const { path, title, tokens, headings } of documents) {
    const page = addressOf('search.html', outputOf(path));
    let next = 0;
    let heading = title;
    let url = page;
    let text = '';
    const close = (): void => {
      if (text.trim() !== '') sections.push({ url, title, heading, text: text.replace(/\s+/g, ' ').trim() });
      text = '';
    };
    for (const token of tokens) {
      if (token.type !== 'heading') {
        text += `${plainText([token])}\n`;
        continue;
      }
      close();
      const found = headings[next++];
      heading = found?.text ?? title;
      url = found && found.depth > 1 ? `${page}#${found.slug}` : page;
    }
    close();
  }
  return sections.map((section, id) => ({ id, ...section }));
}

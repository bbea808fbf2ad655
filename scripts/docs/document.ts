import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';
import type { Token, Tokens, TokensList } from 'marked';

/** All documents of the repository, those of the tests aside. */
const DOCUMENTS = ['*.md', 'docs/*.md', 'bench/*.md', 'examples/**/*.md'];

/** A heading of a document, with the name that links to it use. */
export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly slug: string;
}

/** A piece of code in a document: in a sentence, or a block with its language. */
export interface Code {
  readonly text: string;
  readonly language?: string;
  readonly isBlock: boolean;
}

/** A document: its text, and what in it can be wrong. */
export interface MarkdownDocument {
  /** Relative to the repository, with slashes. */
  readonly path: string;
  readonly title: string;
  readonly tokens: TokensList;
  readonly headings: readonly Heading[];
  /** The targets of links and images, as they are written. */
  readonly targets: readonly string[];
  readonly codes: readonly Code[];
  /** Links by name, such as `[text][name]`, whose name is nowhere defined. They stay plain text. */
  readonly unresolved: readonly string[];
  /** HTML other than comments. It would be part of the page as it is. */
  readonly html: readonly string[];
}

/** Reads all documents of a repository. */
export function readDocuments(root: string): MarkdownDocument[] {
  return globSync(DOCUMENTS, { cwd: root, exclude: ['**/node_modules/**'] })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .map((path) => readDocument(path, readFileSync(join(root, path), 'utf8')));
}

/** Reads one document. */
export function readDocument(path: string, text: string): MarkdownDocument {
  const marked = new Marked({ gfm: true });
  const tokens = marked.lexer(text);
  const headings: Heading[] = [];
  const targets: string[] = [];
  const codes: Code[] = [];
  const unresolved: string[] = [];
  const html: string[] = [];
  const slugs = new Map<string, number>();
  const visit = (token: Token): void => {
    if (token.type === 'heading') {
      const heading = token as Tokens.Heading;
      const plain = plainText(heading.tokens);
      headings.push({ depth: heading.depth, text: plain, slug: nextSlug(plain, slugs) });
    } else if (token.type === 'link' || token.type === 'image') targets.push((token as Tokens.Link).href);
    else if (token.type === 'codespan') codes.push({ text: (token as Tokens.Codespan).text, isBlock: false });
    else if (token.type === 'code') {
      const { text, lang } = token as Tokens.Code;
      codes.push({ text, isBlock: true, ...(lang !== undefined && { language: lang }) });
    } else if (token.type === 'html' && !/^\s*<!--[^]*-->\s*$/.test(token.raw)) html.push(token.raw.trim());
    // Text that has tokens of its own is looked at there.
    else if (token.type === 'text' && !('tokens' in token)) {
      unresolved.push(...[...token.raw.matchAll(/\[[^\]]+\]\[[^\]]*\]/g)].map(([found]) => found));
    }
  };
  void marked.walkTokens(tokens, visit);
  const title = headings.find(({ depth }) => depth === 1)?.text ?? path;
  return { path, title, tokens, headings, targets, codes, unresolved, html };
}

/** The text of tokens without their Markdown. */
export function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'table') {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows].map((row) => row.map((cell) => plainText(cell.tokens)).join(' ')).join('\n');
      }
      if (token.type === 'list') return (token as Tokens.List).items.map((item) => plainText(item.tokens)).join('\n');
      if (token.type === 'html' || token.type === 'def') return '';
      if ('tokens' in token && token.tokens) return plainText(token.tokens);
      return 'text' in token ? String(token.text) : token.raw;
    })
    .join('');
}

/** The name of a heading in links, by GitHub's rule: links work there and on the site. */
function nextSlug(text: string, taken: Map<string, number>): string {
  const slug = text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
  const before = taken.get(slug) ?? 0;
  taken.set(slug, before + 1);
  return before === 0 ? slug : `${slug}-${before}`;
}

import { expect, test } from 'vitest';
import { loadPart } from './part.ts';

const { createElement } = await loadPart<{ createElement: (type: unknown, props: object) => unknown }>('react');
const { renderToStaticMarkup } = await loadPart<{ renderToStaticMarkup: (node: unknown) => string }>(
  'react-dom/server',
);
const { Markdown } = await loadPart<{ Markdown: unknown }>('ui/parts/markdown.tsx');

const draw = (text: string): string => renderToStaticMarkup(createElement(Markdown, { text }));

test('text of an agent keeps its line breaks, tables, check boxes and struck words', () => {
  expect(draw('one\ntwo')).toContain('one<br/>two');
  expect(draw('| a | b |\n|---|---|\n| 1 | 2 |')).toMatch(/<th>a<\/th>.*<td>2<\/td>/);
  expect(draw('- [x] done\n- [ ] to do')).toMatch(/checked=""[^>]*\/>done.*<input[^>]*\/>to do/);
  expect(draw('~~no~~ https://example.com')).toMatch(/<del>no<\/del>.*<a href="https:\/\/example.com"/);
});

test('nested lists and quotations end at 8 levels, before they take all the width', () => {
  expect(draw(`${'- '.repeat(40)}deep`).split('<ul>').length - 1).toBe(8);
  expect(draw(`${'> '.repeat(60)}deep`).split('<blockquote>').length - 1).toBe(8);
});

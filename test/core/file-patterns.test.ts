import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileMatches, filesMeet, wrongPattern } from '../../src/core/file-patterns.ts';
import { tries } from '../proof.ts';

/** All short paths of a few names: every two small patterns that meet do so in one of them. */
const NAMES = ['a', 'b', 'ab', 'ba'];
const PATHS = [1, 2, 3, 4, 5].flatMap((depth) => pathsOf(depth));

const name = fc.constantFrom('a', 'b', 'ab', 'a*', '*b', '*', '*a*', '**');
const pattern = fc
  .array(name, { minLength: 1, maxLength: 3 })
  .map((names) => names.join('/'))
  .filter((text) => text.split('/').length <= 3);

describe('two patterns of files', () => {
  test('meet exactly if a path matches both', () => {
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        const [a, b] = [matcherOf(one), matcherOf(other)];
        const common = PATHS.some((path) => a.test(path) && b.test(path));
        expect({ one, other, meet: filesMeet([one], [other]) }).toEqual({ one, other, meet: common });
        expect(filesMeet([other], [one])).toBe(common);
      }),
      tries(400),
    );
  });

  test.each<[string, string, boolean]>([
    ['src/parser/**', 'src/parser/lexer.ts', true],
    ['src/parser/**', 'src/printer/**', false],
    ['src/parser', 'src/parser/deep/file.ts', true],
    ['./src//parser/', 'src/parser', true],
    ['src/parser', 'src/parser.ts', false],
    ['src/**/*.ts', 'src/**/*.css', false],
    ['src/**', '**/*.test.ts', true],
    ['*.md', 'src/**', false],
    ['*', 'src/**', false],
    ['src/*/index.ts', 'src/a/b/index.ts', false],
    ['app/[id]/page.tsx', 'app/[id]/*', true],
    ['**', 'any/thing', true],
    ['a/**/b/**/c', 'a/x/b/c', true],
    ['a/**/b/**/c', 'a/x/c*', false],
    ['.', 'anything', true],
  ])('%s and %s', (one, other, meet) => {
    expect(filesMeet([one], [other])).toBe(meet);
    expect(filesMeet(['x/1', one], ['y/2', other])).toBe(meet);
  });

  test('count as meeting if it takes too long to tell them apart', () => {
    const deep = Array.from({ length: 16 }, (_, i) => `${i}/${'a/'.repeat(80)}b`);
    const search = Array.from({ length: 16 }, () => `**/${'a/'.repeat(80)}c/**`);
    expect(filesMeet(deep.slice(0, 1), ['c/**'])).toBe(false);
    expect(filesMeet(deep, search)).toBe(true);
  });
});

test.each([
  ['/etc/passwd', 'must be relative to the project'],
  ['C:\\src', 'must be relative to the project'],
  ['src/../..', 'must not leave the project'],
  ['src/{a,b}', 'has wildcards other than * and **: write one pattern for each'],
  ['!src/**', 'has wildcards other than * and **: write one pattern for each'],
  ['src/...', undefined],
  ['app/[id]/**', undefined],
])('%s %s', (text, wrong) => {
  expect(wrongPattern(text)).toBe(wrong);
});

function pathsOf(depth: number): string[] {
  return depth === 1 ? NAMES : pathsOf(depth - 1).flatMap((path) => NAMES.map((next) => `${path}/${next}`));
}

/** The same rules, as a regular expression for paths. */
function matcherOf(text: string): RegExp {
  const names = text.split('/');
  if (!text.includes('*')) return new RegExp(`^${text}(/.*)?$`);
  const parts = names.map((one, i) => {
    const isLast = i === names.length - 1;
    if (one === '**') return isLast ? '.+' : '(?:[^/]+/)*';
    return `${one.replaceAll('*', '[^/]*')}${isLast ? '' : '/'}`;
  });
  return new RegExp(`^${parts.join('')}$`);
}

test('a file matches a pattern by its very name; in too long a list everything does', () => {
  expect(fileMatches('src/a.ts', ['docs/**', 'src/*.ts'])).toBe(true);
  expect(fileMatches('src/a.ts', ['docs/**', 'src/b.ts'])).toBe(false);
  // A star in the name of a file is only a star.
  expect(fileMatches('src/*', ['src/a.ts'])).toBe(false);
  expect(fileMatches('src/*', ['src/*'])).toBe(true);
  const names = (count: number) => Array.from({ length: count }, (_none, n) => `f${n}`);
  expect(fileMatches('other', names(2_000))).toBe(false);
  expect(fileMatches('other', names(2_001))).toBe(true);
  expect(filesMeet(['other'], names(2_000))).toBe(false);
  expect(filesMeet(['other'], names(2_001))).toBe(true);
});

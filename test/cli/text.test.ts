import { describe, expect, test } from 'vitest';
import { clean, cleanLines, cut, widthOf, wrap, fold } from '../../src/cli/show/text.ts';
import { toJson } from '../../src/cli/show/write.ts';
import { HOSTILE } from './hostile.ts';

/** Characters of a foreign text that must never reach a terminal. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;

describe('foreign text', () => {
  test.each(HOSTILE)('loses control and invisible characters: %j', (text) => {
    expect(clean(text)).not.toMatch(FORBIDDEN);
    for (const line of cleanLines(text)) expect(line).not.toMatch(FORBIDDEN);
    expect(toJson({ text }, undefined).trimEnd()).not.toMatch(FORBIDDEN);
    expect(JSON.parse(toJson({ text }, undefined))).toEqual({ text });
  });

  test('keeps what people write', () => {
    for (const text of ['Größe', '日本語', 'a\u0301', '👩‍👩‍👧 family', '🇩🇪', 'שלום', '“quotes” – dash … → ✓', '❤️']) {
      expect(clean(text)).toBe(text);
    }
    expect(clean('two\nlines\tand a tab')).toBe('two lines and a tab');
    expect(cleanLines('one\r\ntwo\nthree\u2028four')).toEqual(['one', 'two', 'three', 'four']);
  });
});

describe('the width of text', () => {
  test.each([
    ['abc', 3],
    ['Größe', 5],
    ['日本語', 6],
    ['한국어', 6],
    ['Ｆｕｌｌ', 8],
    ['ｱ', 1],
    ['a\u0301', 1],
    ['👍', 2],
    ['👍🏽', 2],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['☕', 2],
    ['1️⃣', 2],
    ['✓ ○ ◐ ● ✗ … →', 13],
    ['', 0],
  ])('of %s is %i', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  test('is never exceeded after a cut', () => {
    for (const text of ['abcdef', '日本語テキスト', '👍👍👍👍', 'a日b本c', `Z${'\u0301'.repeat(200)}algo is long`]) {
      expect(cut(text, 0)).toBe('');
      for (let width = 1; width <= 12; width++) {
        const short = cut(text, width);
        expect(widthOf(short)).toBeLessThanOrEqual(width);
        if (widthOf(text) <= width) expect(short).toBe(text);
        else expect(short.endsWith('…')).toBe(true);
      }
    }
  });

  test('decides where lines break', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
    for (const line of wrap('日本語 のテキストはここで折り返す', 6)) expect(widthOf(line)).toBeLessThanOrEqual(6);
  });
});

describe('text that is folded', () => {
  test('breaks at spaces, keeps its indent, and leaves long words whole', () => {
    const say = 'No teammate runs. Start a team with troupe up\n';
    expect(fold(say, { columns: 40 })).toBe('No teammate runs. Start a team with\ntroupe up\n');
    expect(fold('    one two three', { columns: 12 })).toBe('    one two\n    three');
    expect(fold('12:00:00 one two three', { columns: 20 }, 9)).toBe('12:00:00 one two\n         three');
    expect(fold(`see ${'x'.repeat(30)} now`, { columns: 20 })).toBe(`see\n${'x'.repeat(30)}\nnow`);
    // A word that fits with a smaller indent is not broken to keep the indent.
    expect(fold('name  get it-all-at-once now', { columns: 16 }, 6)).toBe('name  get\n  it-all-at-once\n      now');
    expect(fold('\x1b[31mred\x1b[0m and so', { columns: 10 })).toBe('\x1b[31mred\x1b[0m and so');
    expect(fold(say, { columns: Infinity })).toBe(say);
  });
});

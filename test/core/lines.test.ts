import { isUtf8 } from 'node:buffer';
import { expect, test } from 'vitest';
import { splitLines } from '../../src/core/lines.ts';
import type { LineRules } from '../../src/core/lines.ts';

/** The lines of a text that comes in chunks of this size. */
function linesOf(text: string, size: number, rules?: LineRules): string[] {
  const bytes = Buffer.from(text);
  const lines: string[] = [];
  const split = splitLines((line) => lines.push(line), rules);
  for (let at = 0; at < bytes.length; at += size) split.push(bytes.subarray(at, at + size));
  split.end();
  return lines;
}

test('lines are the same however the bytes are split', () => {
  const text = 'first\n\nsecond ünïcode\nthird';
  for (let size = 1; size <= text.length; size++) {
    expect(linesOf(text, size, { maxBytes: 100, isUtf8 })).toEqual(['first', '', 'second ünïcode', 'third']);
  }
});

test('a line has all its bytes until the next newline, and waits for that', () => {
  const lines: string[] = [];
  const split = splitLines((line) => lines.push(line));
  split.push(Buffer.from('a\r\nb\u2028c\rd\nrest'));
  expect(lines).toEqual(['a\r', 'b\u2028c\rd']);
  split.end();
  split.end();
  expect(lines).toEqual(['a\r', 'b\u2028c\rd', 'rest']);
});

test('a chunk may be overwritten after it was pushed', () => {
  const lines: string[] = [];
  const split = splitLines((line) => lines.push(line));
  const chunk = Buffer.from('first\nsec');
  split.push(chunk);
  chunk.fill('x');
  split.push(Buffer.from('ond\n'));
  expect(lines).toEqual(['first', 'second']);
});

test('a hundred single bytes and more make one line with all of them', () => {
  const text = '0123456789'.repeat(20);
  expect(linesOf(`${text}\n${text}`, 1)).toEqual([text, text]);
});

test('a million single bytes make one line', () => {
  const lines: string[] = [];
  const split = splitLines((line) => lines.push(line), { maxBytes: 1_000_000, isUtf8 });
  for (let i = 0; i < 300_000; i++) split.push(Buffer.from('x'));
  split.push(Buffer.from('\n'));
  expect(lines.map((line) => line === 'x'.repeat(300_000))).toEqual([true]);
});

test('lines before invalid UTF-8 count, what comes after is refused', () => {
  const lines: string[] = [];
  const split = splitLines((line) => lines.push(line), { maxBytes: 100, isUtf8 });
  expect(() =>
    split.push(Buffer.concat([Buffer.from('first\n'), Buffer.from([0xff, 0x0a]), Buffer.from('third\n')])),
  ).toThrow('A line is not UTF-8');
  expect(lines).toEqual(['first']);
});

test('a line that is too long is refused even after whole lines', () => {
  const lines: string[] = [];
  const split = splitLines((line) => lines.push(line), { maxBytes: 10, isUtf8 });
  expect(() => split.push(Buffer.from('short\nmuch too long a line\n'))).toThrow('longer than 10 bytes');
  expect(lines).toEqual(['short']);
});

test('a long line can be taken in pieces, which end between characters', () => {
  const long = '€uro-zähler 🎭 '.repeat(20);
  for (let size = 1; size <= 40; size++) {
    const pieces: string[] = [];
    const lines = linesOf(`short\n${long}\nlast`, size, { maxBytes: 16, onLong: (begun) => pieces.push(begun) });
    expect(lines[0]).toBe('short');
    expect(lines.at(-1)).toBe('last');
    expect([...pieces, ...lines.slice(1, -1)].join('')).toBe(long);
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(16 + size);
  }
});

test('a long line that is left out takes no others with it', () => {
  for (const size of [1, 7, 1_000]) {
    const lines = linesOf(`first\n${'x'.repeat(500)}\nthird\n`, size, { maxBytes: 100, onLong: () => {} });
    expect([lines[0], lines.at(-1)]).toEqual(['first', 'third']);
  }
});

test('bytes that never become a character are not held for ever', () => {
  let taken = 0;
  const onLong = (begun: string): void => {
    taken += begun.length;
  };
  const split = splitLines(() => {}, { maxBytes: 16, onLong });
  for (let i = 0; i < 1_000; i++) split.push(Buffer.from([0x80]));
  expect(taken).toBeGreaterThan(900);
});

test('bytes that begin no character are not held back', () => {
  const taken: string[] = [];
  const lines = splitLines((line) => taken.push(line), { maxBytes: 2, onLong: (begun) => taken.push(begun) });
  lines.push(Buffer.from([0x80, 0x80, 0x80]));
  expect(taken).toEqual(['\uFFFD\uFFFD\uFFFD']);
});

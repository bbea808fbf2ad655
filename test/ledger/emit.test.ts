import { expect, test } from 'vitest';
import { emitAll } from '../../src/ledger/emit.ts';

test('every item is emitted although listeners throw, and the first error is thrown at the end', () => {
  const heard: number[] = [];
  const hear = (item: number): void => {
    heard.push(item);
    if (item > 1) throw new Error(`no ${item}`);
  };
  expect(() => emitAll([1, 2, 3], hear)).toThrow('no 2');
  expect(heard).toEqual([1, 2, 3]);
  emitAll([1], hear);
  expect(heard).toEqual([1, 2, 3, 1]);
});

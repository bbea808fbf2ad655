import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { pop, push } from '../../src/core/heap.ts';
import type { Heap } from '../../src/core/heap.ts';
import { tries } from '../proof.ts';

test('a heap has its smallest key first, after any additions and removals', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: -9, max: 9 }))), (moves) => {
      const heap: Heap = [];
      const oracle: number[] = [];
      for (const key of moves) {
        if (key === null) pop(heap);
        else push(heap, key);
        if (key === null) oracle.shift();
        else oracle.push(key);
        oracle.sort((a, b) => a - b);
        expect(heap[0]).toBe(oracle[0]);
        expect(heap).toHaveLength(oracle.length);
      }
    }),
    tries(167),
  );
});

test('a heap returns its keys in order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (keys) => {
      const heap: Heap = [];
      for (const key of keys) push(heap, key);
      const given = keys.map(() => {
        const least = heap[0];
        pop(heap);
        return least;
      });
      expect(given).toEqual([...keys].sort((a, b) => a - b));
      expect(heap).toEqual([]);
    }),
  );
});

import { describe, expect, test } from 'vitest';
import type { Seq } from '../../../src/journal/journal.ts';
import { note, textOf, fill, collect, texts, numbers } from './notes.ts';
import type { OpenStore } from './notes.ts';

/** `read` returns existing batches. */
export function describeRead(name: string, open: OpenStore): void {
  describe(`${name}: read`, () => {
    test('returns nothing for a team that does not exist', async () => {
      const { journal } = await open();
      expect(await collect(journal.read('a', 0))).toEqual([]);
      expect(await collect(journal.read('a', 7))).toEqual([]);
    });

    test('starts after the given number', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 5);
      expect(await texts(journal.read('a', 3))).toEqual(['4', '5']);
      expect(await texts(journal.read('a', 5))).toEqual([]);
      expect(await texts(journal.read('a', 50))).toEqual([]);
    });

    test('sees a batch as soon as it is durable for another handle', async () => {
      const { journal, other } = await open();
      for (let seq = 0; seq < 20; seq++) {
        await (seq % 2 === 0 ? journal : other).append('a', seq, [note(String(seq + 1))]);
        expect(await texts((seq % 2 === 0 ? other : journal).read('a', seq))).toEqual([String(seq + 1)]);
      }
    });

    test('returns a long stream completely and in order', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 700);
      const large = 'x'.repeat(100_000);
      for (let seq = 700; seq < 730; seq++) await journal.append('a', seq, [note(large)]);
      const batches = await collect(journal.read('a', 0));
      expect(batches.map(({ seq }) => seq)).toEqual(numbers(1, 730));
      expect(batches.slice(0, 700).map(({ events }) => events.map(textOf).join())).toEqual(numbers(1, 700).map(String));
      expect(batches.slice(700).every(({ events }) => textOf(events[0]) === large)).toBe(true);
    });

    test('ends with the last batch that existed when it began', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 3);
      const seen: Seq[] = [];
      for await (const { seq } of journal.read('a', 0)) {
        seen.push(seq);
        await journal.append('a', 2 + seen.length, [note('more')]);
      }
      expect(seen).toEqual([1, 2, 3]);
    });

    test('can be stopped early', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 10);
      for await (const { seq } of journal.read('a', 0)) if (seq === 3) break;
      expect(await journal.append('a', 10, [note('11')])).toBe(11);
    });
  });
}

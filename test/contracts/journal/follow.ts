import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Seq } from '../../../src/journal/journal.ts';
import { note, error, fill, collect, numbers, startFollowing, nextTurn } from './notes.ts';
import type { OpenStore } from './notes.ts';

/** `follow` returns existing batches, then new ones. */
export function describeFollow(name: string, open: OpenStore): void {
  describe(`${name}: follow`, () => {
    test('yields existing batches, then new ones', async () => {
      const { journal, other } = await open();
      await fill(journal, 'a', 3);
      const follower = startFollowing(journal, 'a', 1);
      await follower.until(2);
      expect(follower.seen).toEqual([2, 3]);
      await journal.append('a', 3, [note('4')]);
      await follower.until(3);
      await other.append('a', 4, [note('5')]);
      await follower.until(4);
      expect(follower.seen).toEqual([2, 3, 4, 5]);
    });

    test('has no gap and no repetition while many append', async () => {
      const { journal, other } = await open();
      const total = 300;
      const followers = [startFollowing(journal, 'a', 0), startFollowing(other, 'a', 0)];
      const writers = [journal, journal, other].map(async (handle, i) => {
        for (let end = 0; end < total;) {
          try {
            end = await handle.append('a', end, [note(`by ${i}`)]);
            if (end % 100 === 0) followers.push(startFollowing(i === 2 ? other : journal, 'a', end / 2));
          } catch (failure) {
            expect(failure).toMatchObject(error('journal_conflict'));
            for await (const { seq } of handle.read('a', end)) end = seq;
          }
        }
      });
      await Promise.all(writers);
      expect(followers.length).toBeGreaterThan(4);
      for (const { after, until, seen } of followers) {
        await until(total - after);
        expect(seen.slice(0, total - after)).toEqual(numbers(after + 1, total));
      }
    });

    test('waits for a team that does not exist yet', async () => {
      const { journal, other } = await open();
      const followers = [startFollowing(journal, 'a', 0), startFollowing(other, 'a', 0)];
      await journal.append('b', 0, [note('another team')]);
      await fill(journal, 'a', 2);
      for (const { until, seen } of followers) {
        await until(2);
        expect(seen).toEqual([1, 2]);
      }
    });

    test('ends at once when it was aborted before it began', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 3);
      expect(await collect(journal.follow('a', 0, AbortSignal.abort()))).toEqual([]);
    });

    test('ends when aborted between two batches', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 10);
      const abort = new AbortController();
      const seen: Seq[] = [];
      for await (const { seq } of journal.follow('a', 0, abort.signal)) {
        seen.push(seq);
        if (seq === 4) abort.abort();
      }
      expect(seen).toEqual([1, 2, 3, 4]);
    });

    test('ends when aborted while it waits, and leaves no listener behind', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 1);
      const follower = startFollowing(journal, 'a', 0);
      await follower.until(1);
      await nextTurn();
      expect(getEventListeners(follower.abort.signal, 'abort')).toHaveLength(1);
      follower.abort.abort();
      await follower.ended;
      expect(getEventListeners(follower.abort.signal, 'abort')).toHaveLength(0);
      expect(await journal.append('a', 1, [note('2')])).toBe(2);
      expect(follower.seen).toEqual([1]);
    });

    test('leaves no listener behind when the loop ends early', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 3);
      const abort = new AbortController();
      for await (const { seq } of journal.follow('a', 0, abort.signal)) if (seq === 2) break;
      expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
    });

    test('ends when the team is dropped, even by another handle', async () => {
      const { journal, other } = await open();
      await fill(journal, 'a', 2);
      const followers = [startFollowing(journal, 'a', 0), startFollowing(other, 'a', 0)];
      for (const { until } of followers) await until(2);
      await journal.drop('a');
      for (const { ended } of followers) await ended;
    });

    test('does not continue with a new team of the same name', async () => {
      const { journal, other } = await open();
      await fill(journal, 'a', 2);
      const followers = [startFollowing(journal, 'a', 0), startFollowing(other, 'a', 0)];
      for (const { until } of followers) await until(2);
      await Promise.all([journal.drop('a'), journal.append('a', 0, [note('new')])]);
      await fill(journal, 'a', 4, 1);
      for (const { ended, seen } of followers) {
        await ended;
        expect(seen).toEqual([1, 2]);
      }
    });

    test('ends for a team that was dropped before it began', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 2);
      await journal.drop('a');
      expect(await collect(journal.follow('a', 2, new AbortController().signal))).toEqual([]);
    });

    test('ends when the journal closes', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 1);
      const follower = startFollowing(journal, 'a', 0);
      await follower.until(1);
      let hasEnded = false;
      void follower.ended.then(() => (hasEnded = true));
      await journal.close();
      // It must end without waiting: answers that are still outstanding never come.
      for (let turns = 0; turns < 10; turns++) await nextTurn();
      expect(hasEnded).toBe(true);
      expect(getEventListeners(follower.abort.signal, 'abort')).toHaveLength(0);
    });
  });
}

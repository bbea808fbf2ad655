import { describe, expect, test } from 'vitest';
import type { TeamEvent } from '../../../src/core/event.ts';
import { note, textOf, error, fill, collect, texts, numbers, nextTurn, startFollowing } from './notes.ts';
import type { OpenStore } from './notes.ts';

/** What a journal accepts, and returns unchanged. */
export function describeAppend(name: string, open: OpenStore, { most }: { most: number }): void {
  describe(`${name}: append`, () => {
    test('numbers the batches of each team 1, 2, 3', async () => {
      const { journal } = await open();
      expect(await journal.append('a', 0, [note('a1')])).toBe(1);
      expect(await journal.append('b', 0, [note('b1')])).toBe(1);
      expect(await journal.append('a', 1, [note('a2')])).toBe(2);
      expect(await journal.append('a', 2, [note('a3')])).toBe(3);
      expect(await texts(journal.read('a', 0))).toEqual(['a1', 'a2', 'a3']);
      expect(await texts(journal.read('b', 0))).toEqual(['b1']);
    });

    test('keeps the events of a batch together and in order', async () => {
      const { journal } = await open();
      const events = ['one', 'two', 'three'].map(note);
      await journal.append('a', 0, events);
      await journal.append('a', 1, []);
      expect(await collect(journal.read('a', 0))).toEqual([
        { seq: 1, events },
        { seq: 2, events: [] },
      ]);
    });

    test('takes in a whole team at once, if it can, and refuses one that exists', async () => {
      const { journal, other } = await open();
      if (!journal.restore) return;
      const batches = Array.from({ length: 300 }, (_, i) => [note(`${i + 1}`)]);
      const follower = startFollowing(other, 'a', 0);
      await nextTurn();
      await journal.restore('a', batches);
      await follower.until(300);
      expect(await texts(other.read('a', 0))).toEqual(numbers(1, 300).map(String));
      await expect(journal.restore('a', [[note('other')]])).rejects.toEqual(error('journal_conflict'));
      expect(await journal.append('a', 300, [note('301')])).toBe(301);
      expect(await texts(other.read('a', 299))).toEqual(['300', '301']);
    });

    test('conflicts and changes nothing if the number is not the last one', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 2);
      const elsewhere: [where: string, expected: number][] = [
        ['behind the end', 1],
        ['beyond the end', 3],
        ['far beyond the end', 2 ** 32],
        ['at the start of a team that exists', 0],
        ['below zero', -1],
        ['between two numbers', 1.5],
        ['at no number', Number.NaN],
      ];
      for (const [where, expected] of elsewhere) {
        const late = journal.append('a', expected, [note('x')]);
        await expect(late, where).rejects.toMatchObject(error('journal_conflict'));
        expect(await texts(journal.read('a', 0)), where).toEqual(['1', '2']);
      }
      expect(await journal.append('a', 2, [note('3')])).toBe(3);
    });

    test('conflicts for a team that does not exist, and does not create it', async () => {
      const { journal } = await open();
      await expect(journal.append('a', 1, [note('x')])).rejects.toMatchObject(error('journal_conflict'));
      expect(await journal.teams()).toEqual([]);
    });

    test('gives each number to exactly one of many contenders', async () => {
      const { journal, other } = await open();
      for (let seq = 0; seq < 20; seq++) {
        const contenders = Array.from({ length: 10 }, (_, i) =>
          (i % 2 === 0 ? journal : other).append('a', seq, [note(`${seq} by ${i}`)]),
        );
        const settled = await Promise.allSettled(contenders);
        const lost = settled.filter((result) => result.status === 'rejected');
        expect(settled.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
        expect(lost.map(({ reason }) => reason as unknown)).toEqual(lost.map(() => error('journal_conflict')));
      }
      const batches = await collect(other.read('a', 0));
      expect(batches.map(({ seq }) => seq)).toEqual(numbers(1, 20));
    });

    test('writes the other batches when one of them conflicts', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 2);
      const [a, b, c] = await Promise.allSettled([
        journal.append('b', 0, [note('1')]),
        journal.append('a', 1, [note('late')]),
        journal.append('c', 0, [note('1')]),
      ]);
      expect([a.status, b.status, c.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(await journal.teams()).toEqual(['a', 'b', 'c']);
    });

    test('stores the events as they were at the call, even if the caller changes them later', async () => {
      const { journal } = await open();
      const event = { type: 'message:sent', text: 'before' };
      const events = [event as unknown as TeamEvent];
      const appended = journal.append('a', 0, events);
      event.text = 'after';
      events.push(note('more'));
      await appended;
      expect(await texts(journal.read('a', 0))).toEqual(['before']);
    });

    test('takes a batch of 8 MB', async () => {
      const { journal } = await open();
      const events = Array.from({ length: 8 }, (_, i) => note(String(i).repeat(1_000_000)));
      await journal.append('a', 0, events);
      await journal.append('a', 1, [note('next')]);
      const [first, second] = await collect(journal.read('a', 0));
      expect(first?.events.map(textOf)).toEqual(events.map(textOf));
      expect(second?.events.map(textOf)).toEqual(['next']);
    });

    test('returns every text unchanged', async () => {
      const { journal } = await open();
      const hostile = [
        'a zero \u0000b',
        'half a character \ud800 and \udfff',
        'every kind of line end \n\r\u2028\u2029\u0085',
        'characters of four bytes 🎭🧵',
        `quotes and backslashes "'\`\\${'\\'.repeat(5)}`,
        "what looks like SQL '); DROP TABLE batches; --",
        '',
      ];
      for (const [seq, text] of hostile.entries()) await journal.append('a', seq, [note(text)]);
      expect(await texts(journal.read('a', 0))).toEqual(hostile);
    });

    test('returns special JavaScript keys such as __proto__ as plain data', async () => {
      const { journal } = await open();
      const event = JSON.parse('{"type":"message:sent","__proto__":{"admin":true},"constructor":1}') as TeamEvent;
      await journal.append('a', 0, [event]);
      const [batch] = await collect(journal.read('a', 0));
      expect(JSON.stringify(batch?.events)).toBe(JSON.stringify([event]));
      expect(({} as { admin?: boolean }).admin).toBeUndefined();
    });
  });

  describe(`${name}: names`, () => {
    const NAMES = [
      '',
      'a',
      'A',
      '*.>',
      '\uffff',
      'x'.repeat(300),
      ' ',
      '.',
      '../x',
      '/etc/passwd',
      'a/b\\c',
      'a\u0000b',
      '__proto__',
      'constructor',
      "'; DROP TABLE teams; --",
      '%',
      'caf\u00e9',
      'cafe\u0301',
      '\u202egnp.exe',
      '🎭',
    ].slice(0, most);

    test('are plain data: every string is a separate team', async () => {
      const { journal, other } = await open();
      // In parallel, because several servers take a quarter of a second to make a team.
      const each = (work: (team: string, i: number) => Promise<unknown>) => Promise.all(NAMES.map(work));
      await each((team, i) => journal.append(team, 0, [note(`first of ${i}`)]));
      await each((team, i) => other.append(team, 1, [note(`second of ${i}`)]));
      expect(await journal.teams()).toEqual([...NAMES].sort());
      await each(async (team, i) => {
        expect(await texts(journal.read(team, 0))).toEqual([`first of ${i}`, `second of ${i}`]);
        await journal.saveSnapshot(team, { seq: 1, body: `snapshot of ${i}` });
      });
      await each(async (team, i) => {
        expect(await other.loadSnapshot(team)).toEqual({ seq: 1, body: `snapshot of ${i}` });
        await journal.drop(team);
      });
      expect(await journal.teams()).toEqual([]);
    });
  });
}

import { describe, expect, test } from 'vitest';
import { note, error, fill, collect, texts } from './notes.ts';
import type { OpenStore } from './notes.ts';

/** Snapshots, the list of teams, the end of a team and of a journal. */
export function describeLifecycle(name: string, open: OpenStore, { most }: { most: number }): void {
  describe(`${name}: snapshots`, () => {
    test('are returned unchanged, and only the newest', async () => {
      const { journal, other } = await open();
      await fill(journal, 'a', 5);
      expect(await journal.loadSnapshot('a')).toBeUndefined();
      await journal.saveSnapshot('a', { seq: 2, body: '{"at":2}' });
      expect(await other.loadSnapshot('a')).toEqual({ seq: 2, body: '{"at":2}' });
      await journal.saveSnapshot('a', { seq: 5, body: '{"at":"5 🎭"}' });
      await other.saveSnapshot('a', { seq: 3, body: '{"at":3}' });
      expect(await journal.loadSnapshot('a')).toEqual({ seq: 5, body: '{"at":"5 🎭"}' });
    });

    test('may have 16 MB, the state of a large team', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 1);
      const body = JSON.stringify('y'.repeat(16_000_000));
      await journal.saveSnapshot('a', { seq: 1, body });
      expect((await journal.loadSnapshot('a'))?.body === body).toBe(true);
    });

    test('are not stored for a team that does not exist', async () => {
      const { journal } = await open();
      expect(await journal.loadSnapshot('a')).toBeUndefined();
      await journal.saveSnapshot('a', { seq: 1, body: 'x' });
      expect(await journal.loadSnapshot('a')).toBeUndefined();
      expect(await journal.teams()).toEqual([]);
    });

    test('are dropped with their team, and a late one is not stored for a new team of that name', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 3);
      await journal.saveSnapshot('a', { seq: 3, body: 'old' });
      await journal.drop('a');
      await fill(journal, 'a', 1);
      expect(await journal.loadSnapshot('a')).toBeUndefined();
      await journal.saveSnapshot('a', { seq: 3, body: 'late' });
      expect(await journal.loadSnapshot('a')).toBeUndefined();
    });
  });

  describe(`${name}: teams and drop`, () => {
    test('lists the names of all teams, sorted', async () => {
      const { journal } = await open();
      expect(await journal.teams()).toEqual([]);
      for (const team of ['beta', 'alpha', 'gamma']) await fill(journal, team, 1);
      expect(await journal.teams()).toEqual(['alpha', 'beta', 'gamma']);
    });

    test('removes a team with all its data and leaves the others unchanged', async () => {
      const { journal, other } = await open();
      for (const team of ['a', 'b', 'c']) {
        await fill(journal, team, 3);
        await journal.saveSnapshot(team, { seq: 2, body: team });
      }
      await other.drop('b');
      expect(await journal.teams()).toEqual(['a', 'c']);
      expect(await collect(journal.read('b', 0))).toEqual([]);
      expect(await journal.loadSnapshot('b')).toBeUndefined();
      for (const team of ['a', 'c']) {
        expect(await texts(journal.read(team, 0))).toEqual(['1', '2', '3']);
        expect(await journal.loadSnapshot(team)).toEqual({ seq: 2, body: team });
        expect(await journal.append(team, 3, [note('4')])).toBe(4);
      }
    });

    test('does nothing for a team that does not exist', async () => {
      const { journal } = await open();
      await journal.drop('a');
      expect(await journal.teams()).toEqual([]);
    });

    test('makes appends through other handles conflict', async () => {
      const { journal, other } = await open();
      await fill(journal, 'a', 3);
      await other.drop('a');
      await expect(journal.append('a', 3, [note('x')])).rejects.toMatchObject(error('journal_conflict'));
      expect(await journal.teams()).toEqual([]);
    });

    test('lets a new team have the name', async () => {
      const { journal, other } = await open();
      await fill(journal, 'a', 3);
      await other.drop('a');
      expect(await journal.append('a', 0, [note('new')])).toBe(1);
      expect(await texts(other.read('a', 0))).toEqual(['new']);
      expect(await other.append('a', 1, [note('newer')])).toBe(2);
      expect(await texts(journal.read('a', 0))).toEqual(['new', 'newer']);
    });
  });

  describe(`${name}: close`, () => {
    test('lets running appends finish', async () => {
      const { journal } = await open();
      const teams = Array.from({ length: most }, (_, i) => `team-${i}`);
      const appended = teams.map((team) => journal.append(team, 0, [note('x')]));
      await journal.close();
      expect(await Promise.all(appended)).toEqual(teams.map(() => 1));
    });

    test('makes every call after it fail with storage', async () => {
      const { journal } = await open();
      await fill(journal, 'a', 2);
      const reading = journal.read('a', 0)[Symbol.asyncIterator]();
      await reading.next();
      await journal.close();
      const { signal } = new AbortController();
      const calls = [
        journal.append('a', 2, [note('x')]),
        journal.append('b', 0, [note('x')]),
        collect(journal.read('a', 0)),
        collect(journal.read('none', 0)),
        collect(journal.follow('a', 0, signal)),
        journal.loadSnapshot('a'),
        journal.saveSnapshot('a', { seq: 1, body: 'x' }),
        journal.teams(),
        journal.drop('a'),
        ...(journal.restore ? [journal.restore('c', [[note('x')]])] : []),
      ];
      for (const call of calls) {
        const failure: unknown = await call.catch((reason: unknown) => reason);
        expect(failure).toEqual(error('storage'));
        expect((failure as Error).message).toMatch(/is closed\. Open /);
      }
      const rest = (async () => {
        while ((await reading.next()).done !== true);
      })();
      await expect(rest).rejects.toMatchObject(error('storage'));
      await journal.close();
    });
  });
}

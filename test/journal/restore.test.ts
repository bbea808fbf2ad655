import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { rounds } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startFixture } from './children.ts';

const ROUNDS = rounds(4, 200);

test(`${ROUNDS} times kill -9 while teams are taken in leaves each whole, or nothing of it`, async () => {
  const next = seededRandom();
  const path = join(temporaryFolder(), 'journal.db');
  let begun = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const victim = startFixture('restore-victim', [path, String(begun)]);
    await victim.until(1);
    await sleep(next() * 40);
    victim.kill('SIGKILL');
    await victim.ended;
    begun += victim.lines.filter((line) => line.startsWith('begins')).length;
    const journal = sqliteJournal(path);
    const teams = new Set(await journal.teams());
    for (const line of victim.lines.filter((one) => one.startsWith('done'))) {
      expect(teams).toContain(`team-${line.slice('done '.length)}`);
    }
    for (const team of teams) {
      const found = await Array.fromAsync(journal.read(team, 0));
      expect(found.length).toBe(2_000);
    }
    await journal.close();
  }
});

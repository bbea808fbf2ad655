import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newTroupe } from './troupe.ts';

test('a journal that was deleted is not replaced by an empty one before a person agrees', async () => {
  const troupe = newTroupe();
  await troupe.json('team create demo');
  await troupe.run('daemon stop');
  for (const end of ['', '-wal', '-shm']) rmSync(join(troupe.home, `journal.db${end}`), { force: true });
  const said = /journal\.db has lost batches: team "demo" had \d+ batch(es)? and is gone/;
  for (const command of ['status', 'team list']) {
    const refused = await troupe.run(command);
    expect([refused.status, refused.stdout]).toEqual([75, '']);
    expect(refused.stderr).toMatch(said);
    expect(refused.stderr).toContain('troupe journal accept');
  }
  const doctor = await troupe.run('doctor');
  expect(doctor.stdout).toMatch(said);
  expect((await troupe.run('journal accept')).stdout).toMatch(/^Accepted: team "demo" had/);
  expect(await troupe.json('team list')).toEqual([]);
  await troupe.run('daemon stop');
  expect((await troupe.run('journal accept')).stdout).toContain('has lost nothing');
});

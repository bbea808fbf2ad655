import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openAdmin } from '../nats/admin.ts';
import { NEEDS_NATS, startNats } from '../nats/server.ts';
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
  // What a damaged file has lost is not known.
  writeFileSync(join(troupe.home, 'journal.db'), 'no journal'.repeat(1000));
  expect(await troupe.run('journal accept')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('the file is damaged or no journal'),
  });
});

test('a journal on servers that lost their data waits for a person too', NEEDS_NATS, async () => {
  const servers = await startNats();
  onTestFinished(() => servers.stop());
  const troupe = newTroupe();
  await troupe.json('team create demo', { env: { TROUPE_JOURNAL: servers.url } });
  expect((await troupe.run('journal accept')).stderr).toContain('already the daemon of');
  await troupe.run('daemon stop');
  const admin = await openAdmin(servers);
  await admin.jsm.streams.delete('troupe_demo');
  await admin.close();
  const said = /has lost batches: team "demo" had \d+ batch(es)? and is gone/;
  expect((await troupe.run('status')).stderr).toMatch(said);
  expect((await troupe.run('doctor')).stdout).toMatch(said);
  expect((await troupe.run('journal accept')).stdout).toMatch(/^Accepted: team "demo" had/);
  expect(await troupe.json('team list')).toEqual([]);
});

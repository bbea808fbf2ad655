import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeAt } from '../../src/client/home.ts';
import { newTroupe } from '../cli/troupe.ts';
import { tell } from '../proof.ts';
import { until } from '../until.ts';

/** Files of the daemon other than its journal, which has tests of its own (`journal/sqlite-damage`). */
const GARBAGE: Readonly<Record<string, Buffer | string>> = {
  'logins.json': Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xff, 0x0a]),
  'approvals.json': '{"a": [{"b": "c',
  'totals.json': Buffer.from('\ufeff{"a":1}', 'utf16le'),
  port: 'null',
  'daemon.json': '{"pid":12345678901234567890123,"pid":null,"__proto__":{"x":1}}',
  'lock.db': Buffer.alloc(5_000, 0xa5),
  'journal.db.owner': 'garbage',
  'journal.db.mark': '{"teams":7}',
  'last-journal': Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xff]),
  reserve: 'garbage',
  'processes/x.json': '{"pid":"1","startTime":7}',
};

test('F21: a daemon serves despite garbage in the files beside its journal', async () => {
  const troupe = newTroupe();
  await troupe.json('team create demo');
  await troupe.json(['task', 'add', 'One', '--team', 'demo']);
  await troupe.run('daemon stop');
  mkdirSync(join(troupe.home, 'processes'), { recursive: true });
  for (const [file, bytes] of Object.entries(GARBAGE)) writeFileSync(join(troupe.home, file), bytes, { mode: 0o600 });
  for (const file of ['secret', 'token']) writeFileSync(join(troupe.home, file), Buffer.from([0, 0xff, 0xfe]));
  expect((await troupe.run('task list --team demo')).stdout).toContain('One');
  const { stdout: status } = await troupe.run('status');
  for (const problem of ['secret holds no secret', 'last-journal could not be read']) expect(status).toContain(problem);
  tell({ damaged: Object.keys(GARBAGE).length + 2 });
});

/** Names of files, which become folders, and of folders, which become files. */
const FILES = [
  'approvals.json',
  'daemon.json',
  'daemon.log',
  'daemon.sock',
  'environments.json',
  'journal.db.bell',
  'journal.db.mark',
].concat(
  [
    'journal.db.owner',
    'last-journal',
    'lease',
    'lock.db',
    'logins.json',
    'nats.mark',
    'notices.json',
    'team-notices.json',
    'port',
    'reserve',
    'secret',
    'starting',
    'stopped',
  ],
  ['token', 'totals.json'],
);
const FOLDERS = ['claude', 'folders', 'holders', 'launcher', 'processes', 'terminals', 'transcripts', 'trash'];

test('a daemon serves if everything beside its journal is of another kind; it loses nothing and reports it', async () => {
  const troupe = newTroupe();
  await troupe.json('team create demo');
  await troupe.json(['task', 'add', 'One', '--team', 'demo']);
  await troupe.run('daemon stop');
  const at = (...names: string[]): string => join(troupe.home, ...names);
  // Whatever else a daemon will keep in its state directory belongs into this test.
  const { directory: _directory, journal: _journal, ...paths } = homeAt('');
  const names = Object.values(paths).map((path) => path.slice(1));
  expect([...FILES, ...FOLDERS]).toEqual(expect.arrayContaining(names));
  for (const name of [...FILES, ...FOLDERS]) rmSync(at(name), { recursive: true, force: true });
  for (const name of FILES) mkdirSync(at(name));
  for (const name of FILES) writeFileSync(at(name, 'mine'), 'mine');
  for (const name of FOLDERS) writeFileSync(at(name), 'mine');
  const listed = await troupe.run('task list --team demo');
  expect(listed.stdout, listed.stderr).toContain('One');
  const { health } = await troupe.json<{ health: { problems: string[] } }>('status');
  for (const name of [...FILES, ...FOLDERS]) expect(health.problems.join(' ')).toContain(`${name}.moved`);
  for (const name of FILES) expect(readFileSync(at(`${name}.moved`, 'mine'), 'utf8')).toBe('mine');
  await troupe.run(['member', 'spawn', 'ada', '--team', 'demo', '--agent', '{"exec":["true"]}']);
  await until('a member works', async () => (await troupe.run('task list --team demo')).stdout.includes('completed'));
});

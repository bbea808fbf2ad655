import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newTroupe } from '../cli/troupe.ts';

/** Files of the daemon other than its journal, which has tests of its own (`journal/sqlite-damage`). */
const GARBAGE: Readonly<Record<string, Buffer | string>> = {
  'logins.json': Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xff, 0x0a]),
  'approvals.json': '{"a": [{"b": "c',
  'totals.json': Buffer.from('\ufeff{"a":1}', 'utf16le'),
  port: 'null',
  'daemon.json': '{"pid":12345678901234567890123,"pid":null,"__proto__":{"x":1}}',
  'processes/x.json': '{"pid":"1","startTime":7}',
};

test('F21: a daemon serves despite garbage in the files beside its journal, but reports a broken secret', async () => {
  const troupe = newTroupe();
  await troupe.json('team create demo');
  await troupe.json(['task', 'add', 'One', '--team', 'demo']);
  await troupe.run('daemon stop');
  mkdirSync(join(troupe.home, 'processes'), { recursive: true });
  for (const [file, bytes] of Object.entries(GARBAGE)) writeFileSync(join(troupe.home, file), bytes, { mode: 0o600 });
  expect((await troupe.run('task list --team demo')).stdout).toContain('One');
  await troupe.run('daemon stop');
  // A new secret would silently void the tokens of all members. The admin token is new at every start anyway.
  const secret = join(troupe.home, 'secret');
  for (const path of [secret, join(troupe.home, 'token')]) writeFileSync(path, Buffer.from([0, 0xff, 0xfe]));
  const refused = await troupe.run('task list --team demo');
  expect([refused.status, refused.stdout]).toEqual([75, '']);
  expect(refused.stderr).toContain(`${secret} holds no secret: remove it and start the daemon again`);
  rmSync(secret);
  expect((await troupe.run('task list --team demo')).stdout).toContain('One');
});

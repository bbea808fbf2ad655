import { readdirSync, readFileSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { identify } from '../../src/agents/process.ts';
import { writeCard } from '../../src/runtime/card.ts';
import { LockedError, takeLock } from '../../src/runtime/lock.ts';
import { rounds } from '../proof.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { pauseProcess, run } from './processes.ts';

test('goes to exactly one of many processes, and the others learn which', async () => {
  const folder = temporaryFolder();
  const racers = Array.from({ length: rounds(5, 20) }, () => run('hold-lock', [folder]));
  await until('all have said something', () => racers.every(({ output }) => output.stdout.endsWith('\n')));
  const winners = racers.filter(({ output }) => output.stdout === 'got\n');
  expect(winners).toHaveLength(1);
  const others = racers.filter((racer) => racer !== winners[0]).map(({ output }) => output.stdout);
  expect(new Set(others)).toEqual(new Set([`held by ${winners[0]?.pid}\n`]));
});

test('is free at once when its holder is killed, and leaves nothing behind', async () => {
  const folder = temporaryFolder();
  const first = run('hold-lock', [folder]);
  await until('it has the lock', () => first.output.stdout === 'got\n');
  first.child.kill('SIGKILL');
  await first.ended;
  // At the first try: a second try would let the event loop turn.
  let turned = false;
  setImmediate(() => (turned = true));
  const lock = await takeLock(placeIn(folder));
  expect(turned).toBe(false);
  lock.release();
  expect(readdirSync(folder).sort()).toEqual(['daemon.json', 'lock.db']);
  expect(statSync(join(folder, 'lock.db'))).toMatchObject({ size: 0 });
});

test('stays with a holder that is paused', async () => {
  const folder = temporaryFolder();
  const first = run('hold-lock', [folder]);
  await until('it has the lock', () => first.output.stdout === 'got\n');
  await pauseProcess(first.pid);
  await expect(takeLock(placeIn(folder))).rejects.toMatchObject({ name: 'LockedError', pid: first.pid });
  first.child.kill('SIGCONT');
  const second = run('hold-lock', [folder]);
  expect(await second.ended).toBe(75);
  expect(second.output.stdout).toBe(`held by ${first.pid}\n`);
});

test('is waited for if its holder left no daemon.json and is about to end', async () => {
  const place = placeIn(temporaryFolder());
  const first = await takeLock(place);
  // Its first try is over when the call returns.
  const second = takeLock(place);
  first.release();
  (await second).release();
});

test('ignores a daemon.json whose process is gone or another one', async () => {
  const place = placeIn(temporaryFolder());
  const self = identify(process.pid);
  const startedAt = new Date().toISOString();
  const first = await takeLock(place);
  writeCard(place.card, { ...self, startTime: '1', startedAt, version: '0', socket: '', url: null });
  const second = takeLock(place);
  first.release();
  (await second).release();
});

test.each(['wal', 'delete'])('works on a file in journal mode %s too', async (mode) => {
  const place = placeIn(temporaryFolder());
  const db = new DatabaseSync(place.lock);
  db.exec(`PRAGMA journal_mode = ${mode}; CREATE TABLE t (x)`);
  db.close();
  const first = await takeLock(place);
  writeCard(place.card, { ...identify(process.pid), startedAt: '', version: '0', socket: '', url: null });
  await expect(takeLock(place)).rejects.toBeInstanceOf(LockedError);
  first.release();
  (await takeLock(place)).release();
});

test('notices that its file was removed or replaced', async () => {
  const folder = temporaryFolder();
  const lock = await takeLock(placeIn(folder));
  expect(lock.isInPlace()).toBe(true);
  unlinkSync(join(folder, 'lock.db'));
  expect(lock.isInPlace()).toBe(false);
  writeFileSync(join(folder, 'lock.db'), '');
  expect(lock.isInPlace()).toBe(false);
  lock.release();
});

test('empties a file that is not a lock and keeps a copy; refuses a link', async () => {
  const folder = temporaryFolder();
  const place = placeIn(folder);
  const diary = 'this is the diary of somebody who keeps it here'.repeat(20);
  writeFileSync(place.lock, diary);
  const lock = await takeLock(place);
  onTestFinished(() => lock.release());
  expect(readFileSync(`${place.lock}.moved`, 'utf8')).toBe(diary);
  expect(statSync(place.lock).size).toBe(0);
  const linked = { ...place, lock: join(folder, 'link.db') };
  symlinkSync(join(folder, 'nowhere'), linked.lock);
  await expect(takeLock(linked)).rejects.toThrow(/cannot be locked/);
});

function placeIn(folder: string) {
  return { lock: join(folder, 'lock.db'), card: join(folder, 'daemon.json') };
}

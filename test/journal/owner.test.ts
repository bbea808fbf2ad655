import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const EVENT = { type: 'team:created', at: 1, by: '@user' } as never;

function open(path: string, options: { exclusive?: boolean } = {}): ReturnType<typeof sqliteJournal> {
  const journal = sqliteJournal(path, options);
  onTestFinished(() => journal.close());
  return journal;
}

test('whoever writes to a file that another has for itself is refused with what to do, and may read', async () => {
  const path = join(temporaryFolder(), 'journal.db');
  const owner = open(path, { exclusive: true });
  await owner.append('alpha', 0, [EVENT]);
  const other = open(path);
  expect(await other.teams()).toEqual(['alpha']);
  for (const write of [() => other.append('alpha', 1, [EVENT]), () => other.drop('alpha')]) {
    await expect(write()).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringMatching(/journal\.db is written by one process alone.*troupe stop/),
    });
  }
  expect(() => sqliteJournal(path, { exclusive: true })).toThrow('Another process writes to');
  await owner.close();
  expect(await other.append('alpha', 1, [EVENT])).toBe(2);
});

test('nobody has a file for itself to which others write, and who died had nothing', async () => {
  const path = join(temporaryFolder(), 'journal.db');
  const sharing = open(path);
  await sharing.append('alpha', 0, [EVENT]);
  expect(() => sqliteJournal(path, { exclusive: true })).toThrow('Another process writes to');
  await sharing.close();
  const program = `
    const { sqliteJournal } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/journal/sqlite.ts'))});
    await sqliteJournal(process.argv[1], { exclusive: true }).append('beta', 0, [${JSON.stringify(EVENT)}]);
    console.log('ready');
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, path], { stdio: ['ignore', 'pipe', 2] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  const other = open(path);
  await expect(other.append('beta', 1, [EVENT])).rejects.toMatchObject({ code: 'storage' });
  child.kill('SIGKILL');
  await ended;
  expect(await other.append('beta', 1, [EVENT])).toBe(2);
});

test('nothing is put beside a file that is no journal, or one that was cut off', () => {
  const folder = temporaryFolder();
  const text = join(folder, 'passwd');
  writeFileSync(text, 'root:x:0:0:root:/root:/bin/sh\n'.repeat(8));
  expect(() => sqliteJournal(text, { exclusive: true })).toThrow('the file is damaged or no journal');
  const cut = join(folder, 'cut.db');
  writeFileSync(cut, '');
  writeFileSync(`${cut}-wal`, 'what was acknowledged');
  for (const exclusive of [true, false]) {
    expect(() => sqliteJournal(cut, { exclusive })).toThrow('cut.db is empty, and its log');
  }
  expect(readFileSync(`${cut}-wal`, 'utf8')).toBe('what was acknowledged');
  expect(readdirSync(folder).sort()).toEqual(['cut.db', 'cut.db-wal', 'passwd']);
});

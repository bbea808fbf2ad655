import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { cutOffRefused, requireWholeLog } from '../../src/journal/sqlite/log.ts';
import { collect, error } from '../contracts/journal/notes.ts';
import { openFilesIn } from '../open-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startFixture } from './children.ts';

const HEADER = 32;
const FRAME = 24 + 4096;

test('what follows the last commit in a log is cut off, and nothing else', () => {
  const path = join(temporaryFolder(), 'journal.db');
  const size = (): number => statSync(`${path}-wal`).size;
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  db.exec('PRAGMA journal_mode = WAL; PRAGMA cache_size = 1; CREATE TABLE one (x); INSERT INTO one VALUES (1)');
  const committed = size();
  cutOffRefused(path);
  expect(size()).toBe(committed);
  const refuse = () => db.exec('BEGIN; INSERT INTO one VALUES (zeroblob(100000)); ROLLBACK');
  refuse();
  expect(size()).toBeGreaterThan(committed);
  cutOffRefused(path);
  expect(size()).toBe(committed);
  // Now all that was committed is in the file.
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  refuse();
  expect(size()).toBeGreaterThan(0);
  cutOffRefused(path);
  expect(size()).toBe(0);
  db.exec('INSERT INTO one VALUES (2)');
  expect(db.prepare('SELECT x FROM one').all()).toEqual([{ x: 1 }, { x: 2 }]);
  const logs = existsSync('/proc/self/fd') ? openFilesIn(dirname(path)).filter((file) => file.endsWith('-wal')) : [''];
  expect(logs).toHaveLength(1);
});

describe('the log of another database', () => {
  /** Three commits, of frames with pages of this size. */
  function left(pageSize: number): { path: string; log: Buffer; frame: number } {
    const live = join(temporaryFolder(), 'live.db');
    const db = new DatabaseSync(live);
    onTestFinished(() => db.close());
    db.exec(`PRAGMA page_size = ${pageSize}; PRAGMA journal_mode = WAL; CREATE TABLE one (x)`);
    for (let x = 0; x < 3; x++) db.exec(`INSERT INTO one VALUES (${x})`);
    const path = join(temporaryFolder(), 'journal.db');
    copyFileSync(live, path);
    return { path, log: readFileSync(`${live}-wal`), frame: 24 + pageSize };
  }

  test.each([4_096, 8_192])('with pages of %i bytes is read to its end, and a changed bit in it found', (pageSize) => {
    const { path, log, frame } = left(pageSize);
    writeFileSync(`${path}-wal`, log);
    requireWholeLog(path);
    const spoilt = Buffer.from(log);
    const at = HEADER + frame + 500;
    spoilt.writeUInt8(spoilt.readUInt8(at) ^ 1, at);
    writeFileSync(`${path}-wal`, spoilt);
    expect(() => requireWholeLog(path)).toThrow(`damaged after its first ${HEADER + frame} bytes`);
    if (existsSync('/proc/self/fd')) expect(openFilesIn(dirname(path))).toEqual([]);
  });

  test('is refused if two commits would be lost, and accepted if only the last one is incomplete', () => {
    const { path, log, frame } = left(4_096);
    const frames = (log.length - HEADER) / frame;
    const spoil = (at: number): void => {
      const spoilt = Buffer.from(log);
      const byte = HEADER + at * frame + 500;
      spoilt.writeUInt8(spoilt.readUInt8(byte) ^ 1, byte);
      writeFileSync(`${path}-wal`, spoilt);
    };
    // Each of the last three is a commit.
    spoil(frames - 2);
    expect(() => requireWholeLog(path)).toThrow('at least 2 commits that follow would be lost');
    spoil(frames - 1);
    expect(() => requireWholeLog(path)).not.toThrow();
  });

  test('counts its commits, not its frames', () => {
    const { path, log, frame } = left(4_096);
    const frames = (log.length - HEADER) / frame;
    const end = (at: number) => HEADER + at * frame;
    // The last commit has three frames, whose pages end with numbers; one bit of the first has changed.
    const page = Buffer.from(log.subarray(end(frames - 1), end(frames)));
    page.writeUInt32BE(0, 4);
    page.fill(7, 24 + 4_000);
    const last = Buffer.from(page);
    last.writeUInt32BE(2, 4);
    writeFileSync(`${path}-wal`, Buffer.concat([log, page, page, last]));
    expect(() => requireWholeLog(path)).not.toThrow();
    writeFileSync(`${path}-wal`, Buffer.concat([log, page, last, page, last]));
    expect(() => requireWholeLog(path)).toThrow(`first ${log.length} bytes: at least 2 commits`);
  });

  test('is read if a machine with the other order of bytes wrote it', () => {
    const { path, log, frame } = left(4_096);
    const sum = [0, 0] as [number, number];
    const add = (start: number, length: number): void => {
      for (let at = start; at < start + length; at += 8) {
        sum[0] = (sum[0] + log.readUInt32BE(at) + sum[1]) >>> 0;
        sum[1] = (sum[1] + log.readUInt32BE(at + 4) + sum[0]) >>> 0;
      }
    };
    const write = (at: number): void => sum.forEach((half, n) => void log.writeUInt32BE(half, at + 4 * n));
    log.writeUInt32BE(log.readUInt32BE(0) + 1, 0);
    add(0, 24);
    write(24);
    for (let at = HEADER; at < log.length; at += frame) {
      add(at, 8);
      add(at + 24, 4_096);
      write(at + 16);
    }
    writeFileSync(`${path}-wal`, log);
    expect(() => requireWholeLog(path)).not.toThrow();
    log.writeUInt8(log.readUInt8(HEADER + frame + 500) ^ 1, HEADER + frame + 500);
    writeFileSync(`${path}-wal`, log);
    expect(() => requireWholeLog(path)).toThrow(`damaged after its first ${HEADER + frame} bytes`);
  });

  test.each([24, 28])('is refused if the checksum of its header has changed at byte %i', (at) => {
    const { path, log } = left(4_096);
    log.writeUInt8(log.readUInt8(at) ^ 1, at);
    writeFileSync(`${path}-wal`, log);
    expect(() => requireWholeLog(path)).toThrow('damaged after its first 0 bytes');
  });

  test('that is not there is not damaged', () => {
    expect(() => requireWholeLog(join(temporaryFolder(), 'none'))).not.toThrow();
  });

  test('is refused if its header was overwritten with zeros', () => {
    const { path, log } = left(4_096);
    writeFileSync(`${path}-wal`, Buffer.from(log).fill(0, 0, HEADER));
    expect(() => requireWholeLog(path)).toThrow('damaged after its first 0 bytes');
  });

  test('may end within a frame, as after a crash', () => {
    const { path, log, frame } = left(4_096);
    for (const size of [0, HEADER - 1, HEADER, HEADER + 100, HEADER + frame + 100, log.length - 1]) {
      writeFileSync(`${path}-wal`, log.subarray(0, size));
      expect(() => requireWholeLog(path), `of ${size} bytes`).not.toThrow();
    }
  });
});

/** A file and its log after kill -9. */
interface Left {
  readonly path: string;
  readonly file: Buffer;
  readonly log: Buffer;
  /** How many frames of the log are committed, and how many batches of team `a` were acknowledged. */
  readonly frames: number;
  readonly acknowledged: number;
}

test('the log of a killed process is refused if one bit has changed, and nothing is written', async () => {
  const left = await killWriter();
  const { path, frames } = left;
  expect(frames).toBeGreaterThan(40);
  for (const [frame, byte] of [
    [1, 500],
    [Math.floor(frames / 2), 24 + 3],
    [Math.floor(frames / 3), 6],
    [Math.floor(frames / 4), 18],
    [Math.floor(frames / 5), 9],
  ] as const) {
    const spoilt = putBack(left, HEADER + frame * FRAME + byte);
    const refuse = () => sqliteJournal(path, { exclusive: frame % 2 === 0 });
    expect(refuse).toThrow(error('corrupt'));
    expect(refuse).toThrow(`-wal is damaged after its first ${HEADER + frame * FRAME} bytes`);
    expect(readFileSync(`${path}-wal`).equals(spoilt)).toBe(true);
    expect(readFileSync(path).equals(left.file)).toBe(true);

    // As the message says, truncating the log there recovers the frames before.
    truncateSync(`${path}-wal`, HEADER + frame * FRAME);
    expect(await batchesIn(path)).toBeLessThan(left.acknowledged);
  }
});

test.each([1, 9, 17, 30])('the log is refused if byte %i of its header has changed', async (byte) => {
  const left = await killWriter();
  putBack(left, byte);
  expect(() => sqliteJournal(left.path)).toThrow('-wal is damaged after its first 0 bytes');
  putBack(left);
  expect(await batchesIn(left.path)).toBeGreaterThanOrEqual(left.acknowledged);
});

test('the log is accepted if only its last commit is incomplete', async () => {
  const left = await killWriter();
  const { path, log, frames } = left;
  // As if the last flush had not happened: its last frame is empty.
  log.fill(0, HEADER + (frames - 1) * FRAME, HEADER + frames * FRAME);
  putBack(left);
  expect(await batchesIn(path)).toBeGreaterThanOrEqual(left.acknowledged - 1);
});

test('the log is accepted while another process writes it', async () => {
  const path = join(temporaryFolder(), 'journal.db');
  const appender = startFixture('journal-appender', [path, 'a', 'other', '2000']);
  await appender.until(1);
  let isOver = false;
  void appender.ended.finally(() => (isOver = true));
  let times = 0;
  for (; !isOver; times++) await batchesIn(path);
  expect(times).toBeGreaterThan(1);
  expect(await appender.ended).toEqual({ code: 0, signal: null, errors: '' });
  expect(await batchesIn(path)).toBe(2000);
});

async function killWriter(): Promise<Left> {
  const path = join(temporaryFolder(), 'journal.db');
  const appender = startFixture('journal-appender', [path, 'a', 'other', '100', 'led']);
  for (let i = 1; i < 60; i++) appender.say('on');
  await appender.until(60);
  appender.kill('SIGKILL');
  await appender.ended;
  const log = readFileSync(`${path}-wal`);
  return { path, file: readFileSync(path), log, frames: framesOf(log), acknowledged: appender.lines.length };
}

/** Restores the files as they were left; flips one bit of the log if asked. */
function putBack({ path, file, log }: Left, flipped?: number): Buffer {
  const spoilt = Buffer.from(log);
  if (flipped !== undefined) spoilt.writeUInt8(spoilt.readUInt8(flipped) ^ 1, flipped);
  rmSync(`${path}-shm`, { force: true });
  writeFileSync(path, file);
  writeFileSync(`${path}-wal`, spoilt);
  return spoilt;
}

async function batchesIn(path: string): Promise<number> {
  const journal = sqliteJournal(path);
  try {
    return (await collect(journal.read('a', 0))).length;
  } finally {
    await journal.close();
  }
}

/** Counts the frames up to the last commit. Only the last frame of a commit has the database size in its header. */
function framesOf(log: Buffer): number {
  let frames = 0;
  for (let i = 0; HEADER + (i + 1) * FRAME <= log.length; i++) {
    const at = HEADER + i * FRAME;
    if (log.subarray(at + 8, at + 16).equals(log.subarray(16, 24)) && log.readUInt32BE(at + 4) > 0) frames = i + 1;
  }
  return frames;
}

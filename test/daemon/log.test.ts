import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLog } from '../../src/runtime/log.ts';
import { createRedactor } from '../../src/runtime/redact.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const redactor = createRedactor({ SOME_TOKEN: 'very-secret-value' });

test('writes one JSON object per line, in a file that only we may read', () => {
  const before = Date.now();
  const path = join(temporaryFolder(), 'daemon.log');
  const log = openLog({ path, level: 'info', redactor });
  log.info('daemon.started', { pid: 7 });
  log.debug('not.told');
  log.error('it.failed', { error: new TypeError('with very-secret-value\nin two lines') });
  log.close();
  const lines = readLines(path);
  expect(lines).toMatchObject([
    { level: 'info', event: 'daemon.started', pid: 7 },
    { level: 'error', event: 'it.failed', error: { name: 'TypeError', message: 'with [redacted]\nin two lines' } },
  ]);
  expect(Date.parse(lines[0]?.['time'] as string)).toBeGreaterThanOrEqual(before);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('never quotes text that a parser could not read', () => {
  const path = join(temporaryFolder(), 'daemon.log');
  const log = openLog({ path, level: 'info', redactor });
  for (const text of ['SECRET STORY', '{"a":SECRET STORY']) {
    try {
      JSON.parse(text);
    } catch (error) {
      log.error('it.failed', { error: new Error('outer', { cause: error }) });
    }
  }
  log.close();
  expect(readFileSync(path, 'utf8')).not.toContain('SECRET');
  expect(readLines(path)).toHaveLength(2);
});

test('rotates files by size, and keeps no more than configured', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'daemon.log');
  const log = openLog({ path, level: 'info', redactor, maxBytes: 4_000, files: 3 });
  for (let n = 0; n < 1_000; n++) log.info('counted', { n });
  log.close();
  expect(readdirSync(folder).sort()).toEqual(['daemon.log', 'daemon.log.1', 'daemon.log.2']);
  const all = ['daemon.log.2', 'daemon.log.1', 'daemon.log'].flatMap((name) => {
    expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(4_000);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    return readLines(join(folder, name)).map(({ n }) => n as number);
  });
  expect(all.at(-1)).toBe(999);
  expect(all).toEqual(Array.from({ length: all.length }, (_, index) => 1_000 - all.length + index));
});

test('cuts a line that is too long', () => {
  const path = join(temporaryFolder(), 'daemon.log');
  const log = openLog({ path, level: 'info', redactor });
  log.info('too.much', { text: 'x'.repeat(100_000) });
  log.close();
  expect(statSync(path).size).toBeLessThan(1_000);
  expect(readLines(path)).toMatchObject([{ event: 'too.much' }]);
});

test('goes on in the old file while no new one can be made, and rotates later', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'daemon.log');
  const log = openLog({ path, level: 'info', redactor, maxBytes: 1_000, files: 2 });
  mkdirSync(`${path}.new`);
  for (let n = 0; n < 50; n++) log.info('counted', { n });
  rmSync(`${path}.new`, { recursive: true });
  log.info('counted', { n: 50 });
  log.close();
  const told = [...readLines(`${path}.1`), ...readLines(path)].map(({ n }) => n);
  expect(told).toEqual(Array.from({ length: 51 }, (_, n) => n));
});

test('does not follow a symbolic link', () => {
  const folder = temporaryFolder();
  const target = join(folder, 'elsewhere');
  writeFileSync(target, '');
  const path = join(folder, 'daemon.log');
  expect(() => {
    symlinkSync(target, path);
    openLog({ path, level: 'info', redactor });
  }).toThrow(/ELOOP/);
});

function readLines(path: string): Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const BEGIN = 'flushes-begin';
const END = 'flushes-end';

/**
 * Runs a script under strace and counts its calls of fsync and fdatasync, in all threads, between its two marks
 * (`markFlushes`). Undefined if strace is not available.
 */
export function countFlushes(script: string, folder: string, args: readonly string[]): number | undefined {
  const trace = join(folder, 'strace.txt');
  const calls = 'trace=fsync,fdatasync,sync_file_range,msync,mkdir,mkdirat';
  const command = [process.execPath, script, folder, ...args];
  const { error, status, stderr } = spawnSync('strace', ['-f', '-qq', '-e', calls, '-o', trace, ...command], {
    encoding: 'utf8',
  });
  if (error && 'code' in error && error.code === 'ENOENT') return undefined;
  if (error) throw error;
  if (status !== 0) throw new Error(`${script} under strace ended with ${status}: ${stderr}`);
  const lines = readFileSync(trace, 'utf8').split('\n');
  const begin = lines.findIndex((line) => line.includes(BEGIN));
  const end = lines.findIndex((line) => line.includes(END));
  if (begin === -1 || end === -1) throw new Error(`${script} set no marks`);
  return lines.slice(begin, end).filter((line) => /\b(fsync|fdatasync|sync_file_range|msync)\(/.test(line)).length;
}

/** Marks the work whose flushes count: it makes a folder before and after, which strace sees. */
export async function markFlushes(folder: string, work: () => Promise<unknown>): Promise<void> {
  mkdirSync(join(folder, BEGIN));
  await work();
  mkdirSync(join(folder, END));
}

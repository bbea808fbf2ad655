import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

describe('the command line', () => {
  test.each([[[]], [['--help']], [['-h']]])('shows its help for %j', (args) => {
    const { status, stdout, stderr } = troupe(args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('Usage: troupe');
  });

  test.each([['--version'], ['-v']])('shows its version for %s', (option) => {
    expect(troupe([option])).toMatchObject({ status: 0, stdout: '0.1.0\n', stderr: '' });
  });

  test.each([['--colour'], ['dance']])('refuses %s, names it and shows the way', (argument) => {
    const { status, stdout, stderr } = troupe([argument]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(argument);
    expect(stderr).toContain('troupe --help');
  });
});

function troupe(args: readonly string[]) {
  return spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
}

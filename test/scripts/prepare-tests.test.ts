import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { TOOLS } from '../tools.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/prepare-tests.ts');
const mayInstall = existsSync('/etc/debian_version') && process.getuid?.() === 0;

describe('preparing the tests', () => {
  test('says nothing where everything is installed', () => {
    const path = temporaryFolder();
    for (const { program } of TOOLS) addProgram(path, program, '');
    expect(prepare(path)).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });

  test('names what is missing in one line each, and goes on', () => {
    const { status, stderr } = prepare(temporaryFolder());
    expect(status).toBe(0);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(TOOLS.length);
    for (const [index, { program, debianPackage }] of TOOLS.entries()) {
      expect(lines[index]).toMatch(`${program} is missing`);
      expect(lines[index]).toMatch(`install the package ${debianPackage}`);
    }
  });

  test.runIf(mayInstall)('installs what is missing on Debian as root, from fresh lists if it must', () => {
    const path = temporaryFolder();
    const tools = TOOLS.map(({ program }) => join(path, program)).join(' ');
    addProgram(
      path,
      'apt-get',
      `case "$1" in
        update) : > ${path}/lists ;;
        install) [ -e ${path}/lists ] && for tool in ${tools}; do : > $tool; /bin/chmod +x $tool; done ;;
      esac`,
    );
    const { status, stdout, stderr } = prepare(path);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^Installing .* for the tests\.\n$/);
  });
});

function prepare(path: string) {
  return spawnSync(process.execPath, [SCRIPT], { encoding: 'utf8', env: { PATH: path } });
}

function addProgram(folder: string, name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

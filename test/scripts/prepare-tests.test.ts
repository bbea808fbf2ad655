import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { noteAgentsWhole } from '../agents/installed.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { TOOLS, needs } from '../tools.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/prepare-tests.ts');
const mayInstall = existsSync('/etc/debian_version') && process.getuid?.() === 0;

describe('preparing the tests', () => {
  test('says nothing if everything is installed', () => {
    expect(prepare(pathWithTools())).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });

  test('names what is missing in one line each, and goes on', () => {
    const { status, stderr } = prepare(temporaryFolder());
    expect(status).toBe(0);
    const lines = stderr.trimEnd().split('\n');
    const needed = TOOLS.filter(({ isOptional }) => !isOptional);
    expect(lines).toHaveLength(needed.length);
    for (const [index, { program, debianPackage }] of needed.entries()) {
      expect(lines[index]).toMatch(`${program} is missing`);
      expect(lines[index]).toMatch(`install the package ${debianPackage}`);
    }
  });

  test(
    'installs what is missing on Debian as root, and updates the package lists if it must',
    needs(mayInstall, 'this is not Debian, or not root'),
    () => {
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
      expect(stdout).toMatch(/^Installing .* for the tests\.\nDone after \d+ s: .* for the tests\.\n$/);
    },
  );

  test(
    'installs what a system has, if it does not have everything',
    needs(mayInstall, 'this is not Debian, or not root'),
    () => {
      const path = temporaryFolder();
      const [unknown, ...known] = TOOLS;
      const tools = known.map(({ debianPackage, program }) => `${debianPackage}) : > ${path}/${program} ;;`).join(' ');
      addProgram(
        path,
        'apt-get',
        `[ "$1" = install ] || exit 0
        case "$*" in *${unknown?.debianPackage}*) exit 100 ;; esac
        for name; do case "$name" in ${tools} esac; done
        /bin/chmod +x ${path}/*`,
      );
      const { status, stderr } = prepare(path);
      expect({ status, stderr }).toEqual({
        status: 0,
        stderr: expect.stringMatching(`^${unknown?.program} is missing .*\n$`) as string,
      });
    },
  );

  test('installs the agents once for each lock file', () => {
    const path = pathWithTools();
    const folder = agentsFolder();
    addProgram(path, 'npm', `echo "$@" >> ${folder}/calls; /bin/mkdir -p node_modules`);
    const first = prepare(path, folder);
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(first.stdout).toMatch(/^Installing the agents .*\nDone after .*\n$/);
    expect(prepare(path, folder)).toMatchObject({ status: 0, stdout: '', stderr: '' });
    writeFileSync(join(folder, 'package-lock.json'), '{"changed":true}');
    expect(prepare(path, folder).stdout).toMatch('Installing the agents');
    const calls = readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n');
    expect(calls).toHaveLength(2);
    for (const call of calls) expect(call).toMatch(/^ci --ignore-scripts/);
  });

  test('says in one line why the agents could not be installed, goes on, and tries again', () => {
    const path = pathWithTools();
    const folder = agentsFolder();
    addProgram(path, 'npm', `echo 'npm error code ENOTFOUND' >&2; echo 'npm error no such host' >&2; exit 1`);
    for (const _ of [1, 2]) {
      const { status, stderr } = prepare(path, folder);
      expect({ status, lines: stderr.trimEnd().split('\n').length }).toEqual({ status: 0, lines: 1 });
      expect(stderr).toMatch('could not be installed (no such host)');
    }
  });
});

function prepare(path: string, agents = wholeAgents()) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, agents], {
    encoding: 'utf8',
    env: { PATH: path },
  });
  // Whether newer versions of git could be had depends on the machine.
  return { status, stdout, stderr: stderr.replace(/^Newer versions of git are missing .*\n/m, '') };
}

function pathWithTools(): string {
  const path = temporaryFolder();
  for (const { program } of TOOLS) addProgram(path, program, '');
  return path;
}

function agentsFolder(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package-lock.json'), '{}');
  return folder;
}

function wholeAgents(): string {
  const folder = agentsFolder();
  mkdirSync(join(folder, 'node_modules'));
  noteAgentsWhole(folder);
  return folder;
}

function addProgram(folder: string, name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

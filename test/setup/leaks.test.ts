import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { identify, isRunning } from '../../src/agents/process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needs } from '../tools.ts';
import { until } from '../until.ts';

const ROOT = join(import.meta.dirname, '../..');
const START = `const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  console.log('started ' + child.pid);`;

describe('a run of the tests', needs(process.platform === 'linux', 'only Linux has /proc'), () => {
  test('fails if a test leaves a process behind, and names the process and the test file', async () => {
    const { status, stdout, stderr } = runTests(`${START} child.unref();`, { TROUPE_TEST_GRACE_MS: '500' });
    expect(stdout).toContain('1 passed');
    expect(status).toBe(1);
    const told = /left 1 process\(es\) behind, now killed:\s+(\d+) {2}sleep 60 {2}\(from test\/it\.test\.ts\)/;
    expect(stderr).toMatch(told);
    const [, pid] = told.exec(stderr) ?? [];
    await until('it is dead', () => !isRunning(identify(Number(pid))));
  });

  test('passes when the test ends what it started', () => {
    expect(runTests(`${START} child.kill();`)).toMatchObject({ status: 0, stderr: '' });
  });
});

/** Runs our vitest, with our configuration, on a project with one test. */
function runTests(body: string, env: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder();
  for (const path of [
    'package.json',
    'vitest.config.ts',
    'test/setup',
    'test/proof.ts',
    'test/until.ts',
    'scripts/stale.ts',
  ]) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'test'), { recursive: true });
  writeFileSync(
    join(folder, 'test/it.test.ts'),
    `import { spawn } from 'node:child_process';\nimport { test } from 'vitest';\ntest('it', () => {\n${body}\n});\n`,
  );
  const command = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', 'test/it.test.ts'];
  return spawnSync(process.execPath, command, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', ...env },
  });
}

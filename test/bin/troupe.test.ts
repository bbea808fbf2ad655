import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { findOldNode, needs } from '../tools.ts';

const ROOT = join(import.meta.dirname, '../..');
const oldNode = findOldNode();

describe('troupe on a Node that can run it', () => {
  test('runs from a checkout that was never built', () => {
    const result = run(process.execPath, install(), ['--version']);
    expect(result).toMatchObject({ status: 0, stdout: '0.1.0\n', stderr: '' });
  });

  test('prefers the build', () => {
    const bin = install({ built: `console.log('built', ...process.argv.slice(2));` });
    expect(run(process.execPath, bin, ['a b', 'c'])).toMatchObject({ status: 0, stdout: 'built a b c\n' });
  });

  test('runs the source if tests ask for it', () => {
    const bin = install({ built: `console.log('built');` });
    const environment = { ...process.env, TROUPE_SOURCE: '1' };
    const { stdout } = spawnSync(process.execPath, [bin, '--version'], { encoding: 'utf8', env: environment });
    expect(stdout).toBe('0.1.0\n');
  });

  test('says what is wrong with the build', () => {
    const bin = install({ built: `require('./missing.cjs');` });
    const { status, stderr } = run(process.execPath, bin, ['--version']);
    expect(status).not.toBe(0);
    expect(stderr).toContain('missing.cjs');
  });
});

describe('troupe on an older Node', needs(oldNode !== undefined, 'no Node older than 22.13 is on the PATH'), () => {
  const old = oldNode ?? '';

  test('says in one sentence what it needs and what it got', () => {
    const { status, stdout, stderr } = run(old, install(), ['--version']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^Troupe needs Node 22\.18 or newer, and this is Node \d+\.\d+\.\d+\.\n$/);
  });

  test('needs no type stripping once it is built', () => {
    expect(run(old, install({ built: '' }), []).stderr).toContain('Troupe needs Node 22.13 or newer');
  });

  test('switches to the pinned Node if that is installed', () => {
    const result = run(old, install({ pinned: true }), ['--version']);
    expect(result).toMatchObject({ status: 0, stdout: '0.1.0\n', stderr: '' });
  });

  test('passes arguments, input and exit code through', () => {
    const built = `process.stdin.on('data', (data) => {
      console.log(process.versions.node, process.argv.slice(2).join('|'), String(data));
      process.exit(7);
    });`;
    const bin = install({ built, pinned: true });
    const result = run(old, bin, ['a b', '--c'], 'typed');
    expect(result).toMatchObject({ status: 7, stdout: `${process.versions.node} a b|--c typed\n` });
  });

  test('forwards signals and waits until the program has ended', async () => {
    const built = `process.on('SIGTERM', () => setTimeout(() => process.exit(5), 50)); setInterval(() => {}, 1000);
      console.log('ready');`;
    expect(await signalWhenReady(install({ built, pinned: true }), 'SIGTERM')).toEqual([5, null]);
  });

  test('dies of the signal that the program died of', async () => {
    const built = `setInterval(() => {}, 1000); console.log('ready');`;
    expect(await signalWhenReady(install({ built, pinned: true }), 'SIGINT')).toEqual([null, 'SIGINT']);
  });

  async function signalWhenReady(bin: string, signal: NodeJS.Signals): Promise<unknown[]> {
    const child = spawn(old, [bin], { stdio: ['ignore', 'pipe', 'inherit'], env: withoutSource() });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    child.kill(signal);
    return exited;
  }
});

/** The package as npm installs it, or as a checkout without a build; returns the path of its command. */
function install({ built, pinned = false }: { built?: string; pinned?: boolean } = {}): string {
  const folder = temporaryFolder();
  for (const path of ['bin', 'package.json', 'src']) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
  // What `npm ci` installs, without the pinned Node.
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== 'node') symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  if (built !== undefined) {
    mkdirSync(join(folder, 'dist/cli'), { recursive: true });
    writeFileSync(join(folder, 'dist/cli/main.cjs'), built);
  }
  if (pinned) {
    const node = join(folder, 'node_modules/node/bin/node');
    mkdirSync(dirname(node), { recursive: true });
    symlinkSync(process.execPath, node);
  }
  return join(folder, 'bin/troupe.js');
}

function run(node: string, bin: string, args: readonly string[], input = '') {
  return spawnSync(node, [bin, ...args], { encoding: 'utf8', input, env: withoutSource() });
}

/** The environment of a user, without the switch of the tests. */
function withoutSource(): NodeJS.ProcessEnv {
  const { TROUPE_SOURCE: _source, ...environment } = process.env;
  return environment;
}

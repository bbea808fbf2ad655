// Installs the packed package with npm, and uses it on several versions of Node: those that are named, else the oldest
// and the newest that it runs on. Prints what it did, and how long that took.
import { strict as assert } from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ask, makeSmallPath, walkPackage } from '../test/package/person.ts';
import type { Person } from '../test/package/person.ts';
import { packInto } from './pack.ts';

/** A user without rights, on every Linux; only root can become one. */
const NOBODY = 65_534;

const ROOT = dirname(import.meta.dirname);
const CACHE = join(ROOT, 'node_modules/.cache/nodes');
const wanted = process.argv.slice(2);
const nodes = (wanted.length > 0 ? wanted : ['22.13.0', '24', '26']).map(getNode);

// Not in a folder that nobody else may enter.
const folder = realpathSync(mkdtempSync('/tmp/troupe-package-'));
chmodSync(folder, 0o755);
const prefix = join(folder, 'prefix');
const command = join(prefix, 'bin/troupe');
let people = 0;
try {
  const tarball = step('npm pack', () => packInto(folder));
  step('npm install -g', () => npm('install', '--global', '--prefix', prefix, tarball));
  const path = makeSmallPath(join(folder, 'bin'));
  const removal = `npm uninstall -g --prefix ${prefix} troupe\n`;
  for (const { node, version } of nodes) {
    const person = newPerson({ node, path });
    report(`Node ${version}, a home with a space, no git, no terminal`, walkPackage(person, removal));
    if (process.getuid?.() !== 0) {
      console.log('Not tried: another user, because only root can become one');
      continue;
    }

    report(`Node ${version}, user ${NOBODY}, a home that cannot be written`, walkAsNobody({ node, path }, removal));
  }
  report('npx', walkByNpx(tarball));
  step('npm uninstall -g', () => npm('uninstall', '--global', '--prefix', prefix, 'troupe'));
  assert.deepEqual([existsSync(command), readdirSync(join(prefix, 'lib/node_modules'))], [false, []]);
  console.log('All is well.');
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function newPerson(on: Pick<Person, 'node' | 'path'>, uid?: number): Person {
  const home = join(folder, `person ${++people}`);
  const cwd = join(home, 'my project');
  mkdirSync(cwd, { recursive: true });
  if (uid !== undefined) for (const place of [home, cwd]) chownSync(place, uid, uid);
  return { ...on, command, home, cwd, ...(uid !== undefined && { uid }) };
}

/** Without a place for its state, a command says so and what to do. With TROUPE_HOME everything works. */
function walkAsNobody(on: Pick<Person, 'node' | 'path'>, removal: string): Record<string, number> {
  const person = newPerson(on, NOBODY);
  chmodSync(person.home, 0o555);
  const refused = ask(person, 'status');
  assert.equal(refused.status, 1);
  assert.match(
    refused.stderr,
    /^troupe: The state directory .* cannot be made \(you have no permission\): .*TROUPE_HOME\n$/,
  );
  const { status, stderr } = ask(person, '--version');
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(ask(person, 'doctor').stdout, /✗ home .*cannot be written/);
  return walkPackage({ ...person, env: { TROUPE_HOME: join(person.cwd, 'state') } }, removal);
}

/** With the Node of this process, because npx starts what is on the PATH. */
function walkByNpx(tarball: string): Record<string, number> {
  const { home, cwd } = newPerson({ node: process.execPath, path: '' });
  const env = { ...process.env, HOME: home, TROUPE_HOME: join(home, 'state'), npm_config_cache: join(folder, 'cache') };
  const times: Record<string, number> = {};
  const run = (...words: string[]): string => {
    const start = performance.now();
    const said = execFileSync('npx', ['--yes', '--package', tarball, 'troupe', ...words], {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    times[`npx troupe ${words.join(' ')}`] = Math.round(performance.now() - start);
    return said;
  };
  assert.match(run('--version'), /^\d+\.\d+\.\d+\n$/);
  run('init', 'script');
  assert.match(run('up', '--yes'), /4 of 4 tasks completed/);
  assert.match(run('uninstall', '--yes'), /To remove the package itself: rm -r .*_npx/);
  assert.equal(existsSync(join(home, 'state')), false);
  return times;
}

function npm(...words: string[]): void {
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--prefer-offline', '--silent'];
  const { status, stderr } = spawnSync('npm', [...words, ...quiet], { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

function step<T>(name: string, act: () => T): T {
  const start = performance.now();
  const result = act();
  report(name, { [name]: Math.round(performance.now() - start) });
  return result;
}

function report(what: string, times: Readonly<Record<string, number>>): void {
  const parts = Object.entries(times).map(([name, ms]) => (name === what ? `${ms} ms` : `${name} ${ms} ms`));
  console.log(`${what}: ${parts.join(', ')}`);
}

/** A Node of this version, or the newest one of these. It is a package that npm has for each platform. */
function getNode(version: string): { node: string; version: string } {
  const name = `node-${process.platform}-${process.arch}`;
  const said = execFileSync('npm', ['view', `${name}@${version}`, 'version', '--json'], { encoding: 'utf8' });
  const found = [JSON.parse(said) as string | string[]].flat();
  const newest = found.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1) ?? version;
  const place = join(CACHE, newest);
  if (!existsSync(place)) {
    console.log(`Gets Node ${newest}`);
    const draft = `${place}.${process.pid}`;
    mkdirSync(draft, { recursive: true });
    execFileSync('npm', ['pack', `${name}@${newest}`, '--silent', '--pack-destination', draft], { stdio: 'ignore' });
    const [tarball = ''] = readdirSync(draft);
    execFileSync('tar', ['-xzf', join(draft, tarball), '-C', draft, '--strip-components=1']);
    rmSync(join(draft, tarball));
    renameSync(draft, place);
  }
  return { node: join(place, 'bin/node'), version: newest };
}

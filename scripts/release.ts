// Makes a release: npm run release -- VERSION [--dry-run]. It publishes and pushes nothing.
// Version and date go into a commit and a tag; the files go to release/VERSION: the package, its SBOM, where it comes from,
// and checksums of all three. With --dry-run there is neither a commit nor a tag.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { dateChangelog } from './release/changelog.ts';
import { writeProvenance } from './release/provenance.ts';
import { readBundled, writeSbom } from './release/sbom.ts';
import type { Shipped } from './release/sbom.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  version: string;
  packages: Record<string, { version: string; license?: string; integrity?: string }>;
}

const startedOn = new Date().toISOString();
const words = process.argv.slice(2);
const isDry = words.includes('--dry-run');
const version = words.find((word) => !word.startsWith('-')) ?? '';
const said = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8' }).trim();
const git = (...args: string[]): string => said('git', ...args);

try {
  check();
  release();
} catch (error) {
  console.error(`No release: ${(error as Error).message}`);
  process.exitCode = 1;
}

function check(): void {
  const unknown = words.filter((word) => word.startsWith('-') && word !== '--dry-run');
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')}; only --dry-run`);
  if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) {
    throw new Error('name a version, as in: npm run release -- 1.2.3');
  }
  const changed = git('status', '--porcelain');
  if (changed !== '') throw new Error(`these changes are not committed:\n${changed}`);
  if (git('tag', '--list', `v${version}`) !== '') throw new Error(`the tag v${version} exists`);
  const { version: last } = readJson('package.json') as Manifest;
  if (last.localeCompare(version, 'en', { numeric: true }) > 0) throw new Error(`${last} is newer than ${version}`);
}

function release(): void {
  const before = git('rev-parse', 'HEAD');
  try {
    writeVersion();
    if (!isDry) {
      git('commit', '--quiet', '--all', '--allow-empty', '--message', `chore: release ${version}`);
    }
    const files = makeFiles(git('rev-parse', 'HEAD'));
    if (!isDry) git('tag', '--annotate', `v${version}`, '--message', `Release ${version}`);
    for (const path of files) console.log(path);
    const next = `git push --follow-tags && npm publish ${files[0]}`;
    console.log(isDry ? 'A dry run: nothing was committed or tagged.' : `Nothing is published yet: ${next}`);
    console.log('The provenance file is not signed.');
  } catch (error) {
    // Everything was committed before, so this loses nothing but what the release wrote.
    git('reset', '--quiet', '--hard', before);
    throw error;
  } finally {
    if (isDry) git('reset', '--quiet', '--hard', before);
  }
}

function writeVersion(): void {
  const changelog = dateChangelog(readFileSync('CHANGELOG.md', 'utf8'), version, startedOn.slice(0, 10));
  writeFileSync('CHANGELOG.md', changelog);
  // Only the version changes, not the form of the file.
  const manifest = readFileSync('package.json', 'utf8').replace(/^( +"version": )"[^"]+"/m, `$1"${version}"`);
  writeFileSync('package.json', manifest);
  const lock = readJson('package-lock.json') as Lock;
  lock.version = version;
  const own = lock.packages[''];
  if (own) own.version = version;
  writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
}

/** Builds, and writes all files of the release; returns their paths, the package first. */
function makeFiles(commit: string): string[] {
  const manifest = readJson('package.json') as Manifest;
  const folder = join('release', version);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  execFileSync('npm', ['run', 'build', '--silent'], { stdio: ['ignore', 'inherit', 'inherit'] });
  const packed = said('npm', 'pack', '--ignore-scripts', '--silent', '--pack-destination', folder);
  const tarball = join(folder, packed);
  const sbom = join(folder, `${manifest.name}-${version}.cdx.json`);
  writeFileSync(sbom, writeSbom(manifest, { packages: findShipped(manifest), at: startedOn }));
  const provenance = join(folder, `${manifest.name}-${version}.intoto.json`);
  const made = {
    version,
    commit,
    lock: sha256('package-lock.json'),
    isDry,
    startedOn,
    node: process.versions.node,
    npm: said('npm', '--version'),
    platform: `${process.platform}-${process.arch}`,
    command: ['npm run release --', ...words].join(' '),
    finishedOn: new Date().toISOString(),
    files: [tarball, sbom].map((path) => ({ name: basename(path), sha256: sha256(path) })),
  };
  writeFileSync(provenance, writeProvenance(made));
  const sums = [tarball, sbom, provenance].map((path) => `${sha256(path)}  ${basename(path)}\n`);
  const sumsFile = join(folder, 'SHA256SUMS');
  writeFileSync(sumsFile, sums.join(''));
  return [tarball, sbom, provenance, sumsFile];
}

/** The packages that npm installs with this one, and those that the build put into it. */
function findShipped({ dependencies = {} }: Manifest): Shipped[] {
  const { packages } = readJson('package-lock.json') as Lock;
  const beside = Object.keys(dependencies).map((name) => {
    const { version: installed = '', license = '', integrity } = packages[`node_modules/${name}`] ?? {};
    return { name, version: installed, license, integrity, bundled: false };
  });
  const texts = globSync('dist/**/licenses.md').map((path) => readFileSync(path, 'utf8'));
  const inside = texts.flatMap(readBundled).map((one) => {
    const locked = Object.entries(packages).find(
      ([path, { version: found }]) => path.endsWith(`node_modules/${one.name}`) && found === one.version,
    );
    return { ...one, integrity: locked?.[1].integrity, bundled: true };
  });
  return [...new Map([...inside, ...beside].map((one) => [`${one.name}@${one.version}`, one])).values()];
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

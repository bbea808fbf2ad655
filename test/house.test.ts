import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eventSchemas } from '../src/core/event-data.ts';
import { nounOf } from '../src/core/event.ts';
import { OPTIONAL_PACKAGES } from '../src/core/missing-package.ts';
import { LONG } from './setup/long-tests.ts';

const ROOT = dirname(import.meta.dirname);

describe('the package', () => {
  const Manifest = z.object({
    scripts: z.record(z.string(), z.string()),
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
    peerDependencies: z.record(z.string(), z.string()),
    peerDependenciesMeta: z.record(z.string(), z.strictObject({ optional: z.literal(true) })),
    overrides: z.record(z.string(), z.string()),
    engines: z.object({ node: z.string() }),
    files: z.array(z.string()),
  });
  const Lock = z.object({
    packages: z.record(
      z.string(),
      z.object({
        version: z.string(),
        resolved: z.string().optional(),
        integrity: z.string().optional(),
        optionalDependencies: z.record(z.string(), z.string()).optional(),
        engines: z.object({ node: z.string().optional() }).optional(),
        dev: z.boolean().optional(),
      }),
    ),
  });
  const manifest = readJson('package.json', Manifest);
  const lock = readJson('package-lock.json', Lock).packages;
  const locked = Object.entries(lock).filter(([path]) => path !== '');

  test('pins every dependency exactly', () => {
    const versions = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.overrides };
    const loose = Object.entries(versions).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
    expect(loose).toEqual([]);
  });

  test('names optional packages in the versions that it was tested with', () => {
    const { peerDependencies, peerDependenciesMeta, devDependencies } = manifest;
    const peers = Object.entries(peerDependencies).map(([name, version]) => `${name}@${version}`);
    expect(Object.values(OPTIONAL_PACKAGES).flat()).toEqual(peers);
    expect(Object.keys(peerDependenciesMeta)).toEqual(Object.keys(peerDependencies));
    expect(devDependencies).toMatchObject(peerDependencies);
  });

  test('asks for a Node that all its dependencies accept, and says the same everywhere', () => {
    const [, own = ''] = /^>=(\d+\.\d+)$/.exec(manifest.engines.node) ?? [];
    const [major = 0, minor = 0] = own.split('.').map(Number);
    const newer = locked.filter(([, { dev, engines }]) => {
      const [, least, then = '0'] = />=\s*v?(\d+)(?:\.(\d+))?/.exec(engines?.node ?? '') ?? [];
      return !dev && (Number(least) > major || (Number(least) === major && Number(then) > minor));
    });
    expect(newer.map(([path]) => path)).toEqual([]);
    expect(readFileSync(join(ROOT, 'bin/troupe.js'), 'utf8')).toContain(`const BUILT = '${own}'`);
    for (const file of ['README.md', 'docs/library.md', 'src/journal/node-sqlite.ts']) {
      expect(readFileSync(join(ROOT, file), 'utf8')).toContain(`Node ${own}`);
    }
  });

  test('contains every file that its documents link to', () => {
    const packed = new Set(globSync([...manifest.files, 'README.md', 'LICENSE', 'package.json'], { cwd: ROOT }));
    const documents = [...packed].filter((path) => path.endsWith('.md'));
    const dead = documents.flatMap((document) =>
      [...readFileSync(join(ROOT, document), 'utf8').matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)]
        .map(([, path = '']) => join(dirname(document), path))
        .filter((path) => !packed.has(path))
        .map((path) => `${document}: ${path}`),
    );
    expect(dead).toEqual([]);
  });

  test('has a lock file without addresses, and with a checksum of every package', () => {
    expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    expect(locked.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
  });

  test('has a lock file with the binaries of every platform', () => {
    const names = new Set(
      locked.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)),
    );
    const wanted = locked.flatMap(([, { optionalDependencies = {} }]) => Object.keys(optionalDependencies));
    expect(wanted.filter((name) => !names.has(name))).toEqual([]);
  });

  test('pins the agents of the tests in the same way, with the binaries of both kinds of machine', () => {
    const AgentsManifest = Manifest.pick({ dependencies: true }).extend({
      optionalDependencies: z.record(z.string(), z.string()),
    });
    const { dependencies, optionalDependencies } = readJson('test/agents/package.json', AgentsManifest);
    const versions = Object.values({ ...dependencies, ...optionalDependencies });
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    const packages = Object.entries(readJson('test/agents/package-lock.json', Lock).packages).slice(1);
    expect(packages.filter(([, { resolved, integrity }]) => resolved || !integrity)).toEqual([]);
    for (const machine of ['linux-x64', 'linux-arm64']) {
      for (const name of ['claude-code', 'codex', 'opencode', 'node-pty']) {
        expect(packages.map(([path]) => path).join('\n')).toContain(`${name}-${machine}`);
      }
    }
  });

  test('pins the older versions of Claude Code in the same way', () => {
    const { dependencies } = readJson('test/native/versions/package.json', Manifest.pick({ dependencies: true }));
    const pinned = /^npm:@anthropic-ai\/claude-code@\d+\.\d+\.\d+$/;
    expect(Object.values(dependencies).filter((version) => !pinned.test(version))).toEqual([]);
    const packages = Object.entries(readJson('test/native/versions/package-lock.json', Lock).packages).slice(1);
    expect(packages.filter(([, { resolved, integrity }]) => resolved || !integrity)).toEqual([]);
    for (const machine of ['linux-x64', 'linux-arm64']) {
      expect(packages.map(([path]) => path).join('\n')).toContain(`claude-code-${machine}`);
    }
  });

  test('begins its tests with files that exist', () => {
    expect(LONG.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test('runs its scripts on the pinned Node', () => {
    expect(process.versions.node).toBe(manifest.devDependencies['node']);
  });

  const programs = Object.values(manifest.scripts).flatMap(
    (script) => /^node (?:--\S+ \S+ )*(\S+)/.exec(script)?.[1] ?? [],
  );
  test.for(programs)('has the program that a script runs: %s', (program, context) => {
    context.skip(!existsSync(join(ROOT, dirname(program))), `there is no ${dirname(program)}/ yet`);
    expect(existsSync(join(ROOT, program))).toBe(true);
  });

  test("has the README's two commands as scripts", (context) => {
    const readme = join(ROOT, 'README.md');
    expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(['start', 'test']));
    context.skip(!existsSync(readme), 'there is no README yet');
    const text = readFileSync(readme, 'utf8');
    expect(text).toContain('npm ci && npm start');
    expect(text).toContain('npm ci && npm test');
  });
});

describe('the documents', () => {
  const read = (document: string): string => readFileSync(join(ROOT, document), 'utf8');
  test.each([
    ['ARCHITECTURE.md', 1200],
    ['SECURITY.md', 800],
  ])('%s has at most %d words', (document, most) => {
    expect(read(document).trim().split(/\s+/).length).toBeLessThanOrEqual(most);
  });

  test('GLOSSARY.md has at most 40 entries, and CHANGELOG.md at most 40 lines before the first release', () => {
    expect(read('GLOSSARY.md').match(/^\| \*\*/gm)?.length).toBeLessThanOrEqual(40);
    const [, ...versions] = read('CHANGELOG.md').split(/^## /m);
    if (versions.length === 1) expect(read('CHANGELOG.md').trim().split('\n').length).toBeLessThanOrEqual(40);
  });

  const isThere = (...path: string[]): boolean => existsSync(join(ROOT, ...path));

  test('docs/api.md names every noun of events and every metric', () => {
    const text = read('docs/api.md');
    const nouns = [...eventSchemas().keys()].map((type) => nounOf({ type }));
    expect(nouns.filter((noun) => !new RegExp(`^\\| [^|]*\`${noun}\``, 'm').test(text))).toEqual([]);
    const metrics = read('src/runtime/instruments.ts').matchAll(/name: '(\w+)'/g);
    expect([...metrics].map(([, name = '']) => name).filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s names files that exist', (document) => {
    const map = read(document);
    const names = [...map.matchAll(/`([\w./-]+(?:\.tsx?|\.md|\/))`/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => !isThere(name) && !isThere('src', name))).toEqual([]);
  });
});

function readJson<T extends z.ZodType>(path: string, schema: T): z.output<T> {
  return schema.parse(JSON.parse(readFileSync(join(ROOT, path), 'utf8')));
}

test('only the process table reads /proc, so that other systems have another way', () => {
  const files = globSync('src/**/*.ts', { cwd: ROOT });
  const readers = files.filter((path) => /['"`]\/proc\b/.test(readFileSync(join(ROOT, path), 'utf8')));
  // A sandbox of Linux has a /proc of its own. Where an open file is, other systems are asked in another way.
  expect(readers.sort()).toEqual([
    'src/agents/process-table.ts',
    'src/agents/sandbox/bubblewrap.ts',
    'src/workspaces/clone/plain-file.ts',
  ]);
});

test('messages that every face shows name no flag of the command line, except in a command to type', () => {
  const rooms = ['core', 'ledger', 'runtime', 'operations', 'server', 'mcp', 'bridge', 'teammate', 'daemon'];
  const files = globSync(
    rooms.map((room) => `src/${room}/**/*.ts`),
    { cwd: ROOT },
  );
  const found = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .filter((line) => /['`].*[ (]--[a-z]/.test(line) && !/troupe [a-z]+|^ *(\/\*|\*|\/\/)/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

test('no test asserts how long something took', () => {
  const clock = /(?:performance|Date)\.now\(\) - /;
  const files = globSync('test/**/*.ts', { cwd: ROOT, exclude: ['test/**/node_modules/**'] });
  const found = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .filter((line) => /expect\(/.test(line) && clock.test(line) && !/Date\.parse|GreaterThan/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { dateChangelog } from '../../scripts/release/changelog.ts';
import { readBundled } from '../../scripts/release/sbom.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { plainEnvironment, plainGit } from '../workspaces/project.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the changelog of a release', () => {
  const text = '# Changelog\n\n## 0.2.0 (not released yet)\n\n- New\n\n## 0.1.0 (2026-01-01)\n\n- Old\n';

  test('gets the date of its version', () => {
    expect(dateChangelog(text, '0.2.0', '2026-02-03')).toBe(text.replace('not released yet', '2026-02-03'));
  });

  test.for([
    ['0.3.0', text, 'does not begin with "## 0.3.0 (not released yet)"'],
    ['0.1.0', text, 'does not begin with'],
    ['0.2.0', text.replace('- New\n', ''), 'says nothing about 0.2.0'],
  ])('is refused for %s if it has no news of it', ([version = '', changelog = '', why]) => {
    expect(() => dateChangelog(changelog, version, '2026-02-03')).toThrow(why);
  });

  test('of this package has a section that waits, or a date', () => {
    expect(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')).toMatch(
      /^## \d+\.\d+\.\d+ \((not released yet|[\d-]+)\)$/m,
    );
  });
});

test('bundled packages are read from the titles of license texts', () => {
  const text = '# Licenses\n\n## @a/b - 1.2.3 (MIT)\n\nText\n\n## c - 2.0.0 (MIT OR Apache-2.0)\n\n## Definitions\n';
  expect(readBundled(text)).toEqual([
    { name: '@a/b', version: '1.2.3', license: 'MIT' },
    { name: 'c', version: '2.0.0', license: 'MIT OR Apache-2.0' },
  ]);
});

describe('npm run release', () => {
  test('makes package, SBOM, provenance and checksums of a clean checkout, and a commit and a tag if it is meant', () => {
    const folder = temporaryFolder();
    const project = join(folder, 'project');
    makePackage(project);
    plainGit(project, 'init', '--quiet', '--initial-branch=main');
    plainGit(project, 'add', '--all');
    plainGit(project, 'commit', '--quiet', '--message', 'first');
    const first = plainGit(project, 'rev-parse', 'HEAD');
    const release = (...words: string[]) =>
      spawnSync(process.execPath, [join(ROOT, 'scripts/release.ts'), ...words], {
        cwd: project,
        encoding: 'utf8',
        env: { ...plainEnvironment(folder), npm_config_update_notifier: 'false' },
      });

    expect(release()).toMatchObject({ status: 1, stderr: expect.stringContaining('name a version') as string });
    expect(release('1.0.0').stderr).toContain('1.1.0 is newer than 1.0.0');
    expect(release('1.3.0').stderr).toContain('does not begin with "## 1.3.0');
    writeFileSync(join(project, 'new.txt'), '');
    expect(release('1.2.0').stderr).toContain('these changes are not committed:\n?? new.txt');
    plainGit(project, 'clean', '--quiet', '--force');

    const dry = release('1.2.0', '--dry-run');
    expect(dry).toMatchObject({ status: 0, stderr: '' });
    expect(dry.stdout).toContain('A dry run: nothing was committed or tagged.\n');
    expect([plainGit(project, 'rev-parse', 'HEAD'), plainGit(project, 'status', '--porcelain')]).toEqual([first, '']);

    const made = release('1.2.0');
    expect(made).toMatchObject({ status: 0, stderr: '' });
    expect(made.stdout).toContain(
      'Nothing is published yet: git push --follow-tags && npm publish release/1.2.0/tiny-1.2.0.tgz\nThe provenance file is not signed.\n',
    );
    const files = join(project, 'release/1.2.0');
    expect(readdirSync(files).sort()).toEqual([
      'SHA256SUMS',
      'tiny-1.2.0.cdx.json',
      'tiny-1.2.0.intoto.json',
      'tiny-1.2.0.tgz',
    ]);
    expect(execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: files, encoding: 'utf8' })).not.toContain(
      'FAIL',
    );
    const commit = plainGit(project, 'rev-parse', 'v1.2.0^{commit}');
    expect(plainGit(project, 'log', '-1', '--format=%s %H')).toBe(`chore: release 1.2.0 ${commit}`);
    expect(readFileSync(join(project, 'CHANGELOG.md'), 'utf8')).toMatch(/^## 1\.2\.0 \(\d{4}-\d\d-\d\d\)$/m);
    expect(readFileSync(join(project, 'package-lock.json'), 'utf8').match(/"version": "1\.2\.0"/g)).toHaveLength(2);
    const packed = execFileSync('tar', ['-xzOf', join(files, 'tiny-1.2.0.tgz'), 'package/package.json']);
    expect(JSON.parse(packed.toString())).toMatchObject({ version: '1.2.0' });

    expect(JSON.parse(readFileSync(join(files, 'tiny-1.2.0.cdx.json'), 'utf8'))).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: { component: { purl: 'pkg:npm/tiny@1.2.0' } },
      components: [
        {
          purl: 'pkg:npm/%40in/side@3.0.0',
          licenses: [{ license: { id: 'MIT' } }],
          hashes: [{ alg: 'SHA-512', content: '00ff' }],
          properties: [{ name: 'troupe:bundled', value: 'true' }],
        },
        { purl: 'pkg:npm/beside@2.0.0', properties: [{ name: 'troupe:bundled', value: 'false' }] },
      ],
    });
    const { subject, predicate } = JSON.parse(readFileSync(join(files, 'tiny-1.2.0.intoto.json'), 'utf8')) as {
      subject: { name: string }[];
      predicate: { buildDefinition: object };
    };
    expect(subject.map(({ name }) => name)).toEqual(['tiny-1.2.0.tgz', 'tiny-1.2.0.cdx.json']);
    expect(predicate.buildDefinition).toMatchObject({
      externalParameters: { version: '1.2.0', command: 'npm run release -- 1.2.0', dryRun: false },
      internalParameters: { node: process.versions.node },
      resolvedDependencies: [{ digest: { gitCommit: commit } }, { name: 'package-lock.json' }],
    });
    expect(release('1.2.0').stderr).toContain('the tag v1.2.0 exists');
  });

  test('leaves the checkout as it was if the build fails', () => {
    const folder = temporaryFolder();
    const project = join(folder, 'project');
    makePackage(project, 'node -e "process.exit(3)"');
    plainGit(project, 'init', '--quiet', '--initial-branch=main');
    plainGit(project, 'add', '--all');
    plainGit(project, 'commit', '--quiet', '--message', 'first');
    const { status } = spawnSync(process.execPath, [join(ROOT, 'scripts/release.ts'), '1.2.0'], {
      cwd: project,
      env: plainEnvironment(folder),
    });
    expect(status).toBe(1);
    expect(plainGit(project, 'log', '--format=%s')).toBe('first');
    expect([plainGit(project, 'status', '--porcelain'), plainGit(project, 'tag')]).toEqual(['', '']);
  });
});

test('the workflow runs what CI runs; the image has no fault that a linter sees, and does not run as root', () => {
  const workflow = parse(readFileSync(join(ROOT, '.github/workflows/ci.yml'), 'utf8')) as {
    permissions: object;
    jobs: Record<string, { steps: { run?: string }[] }>;
  };
  const commands = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  expect(commands).toContain('.ci/run');
  expect(workflow.permissions).toEqual({ contents: 'read' });
  const scripts = commands.flatMap((command) => /scripts\/\S+\.ts/.exec(command)?.[0] ?? []);
  expect(scripts.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  const image = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  expect(validate(image)).toEqual([]);
  // It would see one.
  expect(validate(image.replace('WORKDIR /src', 'WORKDIRS /src'))).toMatchObject([{ range: { start: { line: 4 } } }]);
  expect([...image.matchAll(/^USER (\w+)$/gm)].at(-1)?.[1]).toBe('node');
});

/** A small package with a dependency beside it, and one that its build puts into it. */
function makePackage(folder: string, build = 'node build.js'): void {
  mkdirSync(folder, { recursive: true });
  const write = (path: string, content: object | string): void =>
    writeFileSync(join(folder, path), typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`);
  const about = { name: 'tiny', version: '1.1.0', license: 'MIT' };
  write('package.json', { ...about, files: ['dist'], scripts: { build }, dependencies: { beside: '2.0.0' } });
  write('package-lock.json', {
    ...about,
    lockfileVersion: 3,
    packages: {
      '': { ...about, dependencies: { beside: '2.0.0' } },
      'node_modules/beside': { version: '2.0.0', license: 'ISC', integrity: 'sha512-AP8=' },
      'node_modules/@in/side': { version: '3.0.0', license: 'MIT', dev: true, integrity: 'sha512-AP8=' },
    },
  });
  const licenses = '## @in/side - 3.0.0 (MIT)\\n\\nText\\n';
  write(
    'build.js',
    `require('fs').mkdirSync('dist', { recursive: true }); require('fs').writeFileSync('dist/licenses.md', '${licenses}');`,
  );
  write('.gitignore', 'dist/\nrelease/\n');
  write('CHANGELOG.md', '# Changelog\n\n## 1.2.0 (not released yet)\n\n- New\n');
}

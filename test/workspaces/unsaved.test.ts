import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFixture } from '../journal/children.ts';
import { commitAll, newProject, openStage, plainGit, write } from './project.ts';

const ADA = { team: 'alpha', member: 'ada' };

test('what is in a folder and in no save is named: newly ignored files, pipes, files in submodules', async () => {
  const { workspaces, checkout, depot } = await openStage();
  const { folder: project, head } = checkout;
  plainGit(project, 'update-index', '--add', '--cacheinfo', `160000,${head},libs/sub`);
  mkdirSync(join(project, 'libs/sub'), { recursive: true });
  plainGit(project, 'commit', '-qm', 'submodule');
  const since = plainGit(project, 'rev-parse', 'HEAD');
  write(project, { '.gitignore': 'node_modules/\n.env\n*.log\n/out/\n', 'src/.gitignore': 'made-*\n' });
  const base = commitAll(project);
  await depot.take({ ...checkout, head: base });
  const ada = await workspaces.open(ADA, { base });
  expect(await ada.unsaved(since)).toEqual([]);

  const { folder } = ada;
  write(folder, {
    // The project ignored these from the beginning.
    'node_modules/x/index.js': '',
    'a.log': '',
    'out/deep/file': '',
    'src/made-1': '',
    'src/b.ts': 'saved\n',
    'tmp/x.tmp': '',
    'tmp/.gitignore': '*.tmp\n',
    'libs/sub/inside': '',
  });
  for (const path of ['pipe', 'src/pipe', 'node_modules/x/pipe', 'pipe.log', 'nested/pipe']) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    execFileSync('mkfifo', [join(folder, path)]);
  }
  plainGit(folder, 'init', '-q', 'nested');
  symlinkSync('/tmp', join(folder, 'away'));
  const landed = { kind: 'ignored', isLanded: true } as const;
  expect(await ada.unsaved(since)).toEqual([
    { ...landed, path: 'out/', source: '.gitignore', line: 4, rule: '/out/' },
    { ...landed, path: 'src/made-1', source: 'src/.gitignore', line: 1, rule: 'made-*' },
    { kind: 'ignored', path: 'tmp/x.tmp', source: 'tmp/.gitignore', line: 1, rule: '*.tmp', isLanded: false },
    { kind: 'special-file', path: 'pipe' },
    { kind: 'special-file', path: 'src/pipe' },
    { kind: 'submodule', path: 'libs/sub' },
  ]);
  // What the project ignores at that commit is expected.
  expect((await ada.unsaved(base)).map(({ path }) => path)).toEqual(['tmp/x.tmp', 'pipe', 'src/pipe', 'libs/sub']);
});

test('what the daemon may not read is named: files with the save, folders besides', async () => {
  const root = newProject();
  // Root may read everything.
  const uid = process.getuid?.() === 0 ? 65_534 : undefined;
  if (uid !== undefined) {
    const paths = readdirSync(root, { recursive: true }).map((path) => join(root, path.toString()));
    for (const path of [root, ...paths]) chownSync(path, uid, uid);
    chmodSync(join(root, '..'), 0o755);
  }
  const { ended, lines } = startFixture('workspace-unreadable', [root], uid === undefined ? {} : { uid });
  expect(await ended).toEqual({ code: 0, signal: null, errors: '' });
  const { changes, leftOut, unsaved } = JSON.parse(lines[0] ?? '') as Record<string, { path: string }[]>;
  expect(changes?.map(({ path }) => path)).toEqual(['docs/new.md', 'src/a.ts']);
  const permission = expect.stringContaining('Permission denied');
  expect(leftOut).toEqual([
    { path: 'secret', reason: 'unreadable', detail: permission },
    { path: 'README.md', reason: 'unreadable', detail: permission },
  ]);
  expect(unsaved?.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { kind: 'closed-folder', path: 'data/' },
    { kind: 'closed-folder', path: 'docs/' },
    { kind: 'closed-folder', path: 'src/half/' },
  ]);
});

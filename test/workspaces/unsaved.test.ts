import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startAsNobody } from './nobody.ts';
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
  for (const path of ['pipe', 'src/pipe', 'node_modules/x/pipe', 'pipe.log', 'nested/pipe', 'libs/sub/pipe']) {
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

test('a folder that is too deep to be looked into is named', async () => {
  const { workspaces, checkout } = await openStage();
  const ada = await workspaces.open(ADA, { base: checkout.head });
  const part = 'd'.repeat(250);
  const script = `for (let i = 0; i < 20; i++) { fs.mkdirSync('${part}'); process.chdir('${part}'); } fs.writeFileSync('x', '')`;
  execFileSync(process.execPath, ['-e', script], { cwd: ada.folder });
  write(ada.folder, { new: 'new\n' });
  expect(await ada.save()).toMatchObject({ changes: [{ path: 'new' }], leftOut: [] });
  const [deep, ...others] = await ada.unsaved(checkout.head);
  expect(deep).toMatchObject({ kind: 'closed-folder', path: expect.stringContaining(`${part}/${part}/`) });
  expect(others).toEqual([]);
  // The workspace can still be closed.
  expect(await ada.close({ tip: checkout.head })).toMatchObject({ trash: expect.anything() });
});

test('what the daemon may not read is named: files with the save, folders besides', async () => {
  const { ended, lines } = startAsNobody('workspace-unreadable', newProject());
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

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitAll, openStage, plainGit, write } from './project.ts';

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

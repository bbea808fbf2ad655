import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { explainConflict } from '../../../src/runtime/landing/conflicts.ts';
import { newProject, openStage, plainGit, write } from '../../workspaces/project.ts';

/** What each side does to the project; the first one landed. */
type Side = (folder: string) => void;

const LINES = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join('');

const rename =
  (from: string, to: string): Side =>
  (folder) => {
    mkdirSync(join(folder, to, '..'), { recursive: true });
    renameSync(join(folder, from), join(folder, to));
  };
const remove =
  (path: string): Side =>
  (folder) =>
    rmSync(join(folder, path), { recursive: true });
const point =
  (digit: string): Side =>
  (folder) =>
    void plainGit(folder, 'update-index', '--add', '--cacheinfo', `160000,${digit.repeat(40)},sub`);

const CASES: readonly (readonly [string, { ours: Side; theirs: Side; says: RegExp }])[] = [
  [
    'a file in place of a folder',
    {
      ours: (folder) => {
        remove('src')(folder);
        write(folder, { src: 'file\n' });
      },
      theirs: (folder) => write(folder, { 'src/a.ts': `${LINES}more\n` }),
      says: /^- src~[0-9a-f]+.*; one side has a file there, the other a folder: .*"~".*move it/m,
    },
  ],
  [
    'two names for one file',
    { ours: rename('r.txt', 'r1.txt'), theirs: rename('r.txt', 'r2.txt'), says: /^- r2\.txt; both sides renamed/m },
  ],
  [
    'a new name for a deleted file',
    { ours: remove('r.txt'), theirs: rename('r.txt', 'r2.txt'), says: /^- r2\.txt; one side renamed it, the other/m },
  ],
  ['a submodule', { ours: point('2'), theirs: point('3'), says: /^- sub; both sides changed the submodule: .*lead/m }],
];

test.for(CASES)('the holder is told what to do about %s', async ([, { ours, theirs, says }]) => {
  const root = newProject({ files: { 'src/a.ts': LINES, 'r.txt': LINES } });
  const project = join(root, 'project');
  point('1')(project);
  plainGit(project, 'commit', '-qm', 'submodule');
  const commit = (side: Side): string => {
    plainGit(project, 'checkout', '-q', '--detach', 'main');
    side(project);
    // The submodule has no folder here, so that plain git would remove it.
    plainGit(project, 'add', '-A', '--', ':!sub');
    plainGit(project, 'commit', '-qm', 'side');
    return plainGit(project, 'rev-parse', 'HEAD');
  };
  const [onto, work] = [commit(ours), commit(theirs)];
  plainGit(project, 'branch', 'ours', onto);
  plainGit(project, 'branch', 'theirs', work);
  plainGit(project, 'checkout', '-q', 'main');
  const { depot } = await openStage({ root });
  const text = await explainConflict(depot, {
    work: {
      memberId: 'ada',
      epoch: 1,
      base: plainGit(project, 'rev-parse', 'main'),
      commit: work,
      onto,
      paths: [],
      files: 1,
      added: 1,
      removed: 1,
    },
    landed: [],
    branch: 'troupe/alpha',
  });
  expect(text).toMatch(says);
});

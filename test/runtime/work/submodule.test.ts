import { expect, test } from 'vitest';
import { plainGit, write } from '../../workspaces/project.ts';
import { openStage, TEAM } from './stage.ts';

test('a member and its lead are told once that what is in a submodule does not land', async () => {
  const stage = await openStage({
    prepare(repository) {
      write(repository, { '.gitmodules': '[submodule "sub"]\n\tpath = libs/sub\n\turl = ../sub\n' });
      plainGit(repository, 'add', '.gitmodules');
      plainGit(repository, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},libs/sub`);
      plainGit(repository, 'commit', '-qm', 'submodule');
    },
  });
  const mail = () =>
    stage.ledger.view(TEAM, ({ messages }) =>
      [...messages.values()].map(({ toId, content }) => `${toId}: ${content}`).filter((text) => /submodule/.test(text)),
    );
  await stage.begin('ann', { 'one.txt': 'one\n' });
  await stage.complete('ann', '1');
  expect(await mail()).toEqual([]);
  await stage.begin('ann', { 'two.txt': 'two\n', 'libs/sub/x.c': 'changed\n' });
  await stage.complete('ann', '2');
  await stage.begin('ann', { 'three.txt': 'three\n' });
  await stage.complete('ann', '3');
  const told = /: libs\/sub in the workspace of ann is a submodule with files\. .* in no save and does not land\./;
  expect(await mail()).toEqual([expect.stringMatching(told), expect.stringMatching(told)]);
  expect(await stage.show('two.txt')).toBe('two');
});

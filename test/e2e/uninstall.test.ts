import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answerInPool } from '../cli/answer-pool.ts';
import { plainEnvironment, plainGit, write } from '../workspaces/project.ts';
import { setStage } from './stage.ts';
import { EACH_A_LINE, makeProject, pictureOf, up } from './work-project.ts';

test('uninstalling names work that only Troupe has and refuses, until it is merged or given up', async () => {
  const stage = setStage();
  const user = join(stage.folder, 'user');
  const env = { ...plainEnvironment(user), TROUPE_HOME: stage.home.directory, NO_COLOR: '1' };
  const inside = (folder: string, ...words: string[]) => answerInPool(words, { env, cwd: folder });
  const repository = makeProject(stage, EACH_A_LINE);
  expect((await up(stage, repository)).code).toBe(0);

  const refused = await inside(repository, 'uninstall', '--yes');
  expect(refused.status).toBe(4);
  expect(refused.stdout).toContain('Never merged, with the command that saves it:\n');
  expect(refused.stdout).toContain(`  team ${stage.team}: troupe/${stage.team}: `);
  const [merge = ''] = /(?<=^ {4}troupe )merge .*$/m.exec(refused.stdout) ?? [];
  // The list is shown once.
  expect(refused.stderr).not.toContain(stage.team);
  expect(refused.stderr).toContain('Nothing was removed: work that was never merged would be lost.');
  expect(existsSync(stage.home.journal)).toBe(true);

  // The work of a deleted team is named, too, also when another team has its name.
  expect((await inside(repository, 'team', 'delete', stage.team, '--yes')).status).toBe(0);
  expect((await up(stage, repository)).code).toBe(0);
  const both = await inside(repository, 'uninstall', '--yes');
  expect(both.status).toBe(4);
  expect(both.stdout).toContain(`  team ${stage.team}: troupe/${stage.team}: `);
  const [left = ''] = /\w+(?= \(branch of a deleted team)/.exec(both.stdout) ?? [];
  expect((await inside(repository, 'work', 'clean', left, '--yes')).status).toBe(0);

  expect((await inside(repository, ...merge.split(' '))).status).toBe(0);
  // What a member has not handed in, without a daemon at first: one is started to look.
  write(stage.home.directory, { [`workspaces/${stage.team}/ann/late.txt`]: 'late' });
  expect((await inside(repository, 'stop')).status).toBe(0);
  const late = await inside(repository, 'uninstall', '--yes', '--json');
  expect(late.status).toBe(4);
  expect(late.stderr).toContain('not handed in');
  const { message } = (JSON.parse(late.stderr) as { error: { message: string } }).error;
  const [patch = ''] = /(?<=To save it: troupe )patch .*$/m.exec(message) ?? [];
  expect((await inside(stage.folder, ...patch.split(' '))).status).toBe(0);
  expect(readFileSync(join(stage.folder, `${stage.team}-ann.patch`), 'utf8')).toContain('+late');

  const before = pictureOf(repository);
  const gone = await inside(repository, 'uninstall', '--yes', '--force', '--json');
  expect(gone.status).toBe(0);
  expect(JSON.parse(gone.stdout)).toMatchObject({
    removed: [{ kind: 'state', path: stage.home.directory }],
    unmerged: [expect.stringContaining('ann: 1 file')],
  });
  // Nothing of all that a daemon, its members and their workspaces wrote is left.
  expect(existsSync(stage.home.directory)).toBe(false);
  expect(pictureOf(repository)).toEqual(before);
});

test('uninstalling asks for nothing if no member changed a file, also after the team was deleted', async () => {
  const { stage, repository, inside } = setUp('true');
  expect((await up(stage, repository)).stdout).toContain(`Nothing landed on troupe/${stage.team}.`);
  expect((await up(stage, repository, '--again')).stderr).not.toContain('Never merged');
  expect((await inside('team', 'delete', stage.team, '--yes')).status).toBe(0);
  const left = await stage.ask<{ kind: string }[]>('work', 'clean');
  expect(left.map(({ kind }) => kind)).toEqual(['trash', 'trash', 'trash', 'trash']);
  expect(await inside('uninstall', '--yes')).toMatchObject({ status: 0, stderr: '' });
  expect(existsSync(stage.home.directory)).toBe(false);
});

test('uninstalling looks whether the repository has the work of deleted teams now', async () => {
  const { stage, repository, inside } = setUp(EACH_A_LINE);
  expect((await up(stage, repository)).code).toBe(0);
  expect((await inside('merge')).status).toBe(0);
  expect((await inside('team', 'delete', stage.team, '--yes')).stderr).toBe('');
  const look = async () => {
    const answer = await answerInPool(['uninstall', '--dry-run', '--json'], inside.about);
    return (JSON.parse(answer.stdout) as { unmerged: string[] }).unmerged;
  };
  const unmerged = [expect.stringContaining(`(branch of a deleted team, ${stage.team})`)];
  expect(await look()).toEqual([]);
  expect((await stage.troupe('work', 'clean')).stdout).not.toContain('until you remove it');

  // The branch of the team is a copy that Troupe made.
  const tip = plainGit(repository, 'rev-parse', 'HEAD');
  plainGit(repository, 'branch', '-f', `troupe/${stage.team}`);
  plainGit(repository, 'reset', '-q', '--hard', 'HEAD~1');
  expect(await look()).toEqual(unmerged);
  expect((await stage.troupe('work', 'clean')).stdout).toContain('until you remove it');
  expect((await inside('uninstall', '--yes')).status).toBe(4);
  plainGit(repository, 'branch', 'mine', tip);
  expect(await look()).toEqual([]);

  // Nobody knows what a repository has that is elsewhere or cannot be read.
  renameSync(repository, `${repository}-moved`);
  expect(await look()).toEqual(unmerged);
  renameSync(`${repository}-moved`, repository);
  expect(await look()).toEqual([]);
  renameSync(join(repository, '.git', 'objects'), join(repository, '.git', 'away'));
  expect(await look()).toEqual(unmerged);
  renameSync(join(repository, '.git', 'away'), join(repository, '.git', 'objects'));

  expect((await inside('uninstall', '--yes')).status).toBe(0);
  expect(existsSync(stage.home.directory)).toBe(false);
});

/** A project with a team whose members run `edit`, and a person who calls from its folder. */
function setUp(edit: string) {
  const stage = setStage();
  const repository = makeProject(stage, edit);
  const env = { ...plainEnvironment(join(stage.folder, 'user')), TROUPE_HOME: stage.home.directory, NO_COLOR: '1' };
  const inside = (...words: string[]) => answerInPool(words, { env, cwd: repository });
  /** From a folder that stays. */
  inside.about = { env, cwd: stage.folder };
  return { stage, repository, inside };
}
